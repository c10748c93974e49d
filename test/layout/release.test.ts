/** A release has one version and one owner, wherever they are written. */
import { spawnSync } from "node:child_process";
import t from "tap";
import { packagedFile, version } from "../../shared/config/package.js";
import { stampedFiles, text } from "../support/stamps.js";

void t.test("the version and the owner's addresses are the same everywhere", (t) => {
  const files = Object.entries(stampedFiles());
  for (const [path, stamped] of files) t.ok(text(path) === stamped, `${path} is stamped: if not, run \`make stamp\``);
  for (const [path, stamped] of Object.entries(stampedFiles("98.7.6"))) {
    const isRepeated = path !== "clients/python/pyproject.toml" && !/^docs\/systemd|CODEOWNERS$/.test(path);
    t.equal(stamped.includes("98.7.6"), isRepeated, `${path} repeats the version`);
  }
  t.end();
});

void t.test("the checklist stops at a tag that is not the version's", (t) => {
  const { status, stdout } = spawnSync(process.execPath, [packagedFile("dist/test/release.js"), "v0.0.1"], {
    encoding: "utf8",
  });
  t.equal(status, 1);
  t.match(stdout, `missing: tag v${version}, which is package.json's: got v0.0.1\n`);
  for (const line of stdout.trim().split("\n")) t.match(line, /^missing: /);
  t.end();
});
