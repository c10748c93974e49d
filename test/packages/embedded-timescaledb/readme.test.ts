import { spawnSync } from "node:child_process";
import t from "tap";
import { codeUnder } from "../../support/code-under.js";

void t.test("the README's example works unchanged", (t) => {
  const example = codeUnder("packages/embedded-timescaledb/README.md", "Usage", "js");
  // within this checkout, where Node finds the package by its name
  const { status, stdout, stderr } = spawnSync(process.execPath, ["example.mjs"], {
    ...{ cwd: t.testdir({ "example.mjs": example }), encoding: "utf8", timeout: 120_000 },
  });
  t.equal(status, 0, stderr);
  t.match(stdout, /^postgres:\/\/reader@127\.0\.0\.1:[1-9]\d*\/template1$/m);
  t.end();
});
