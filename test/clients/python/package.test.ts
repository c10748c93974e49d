/** The Python client as its users get it: its own tests, its types, and what a wheel of it contains. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import t from "tap";
import { license, version } from "../../../shared/config/package.js";
import { moduleMissing, pythonMissing, runPython } from "../../support/python.js";

void t.test("the Python client's own tests pass", { skip: pythonMissing }, (t) => {
  const { status, output } = runPython("-m", "unittest", "discover", "-s", "tests");
  t.equal(status, 0, output);
  t.match(output, /Ran \d\d tests/);
  for (const [skipped] of output.matchAll(/skipped=\d+/g)) t.comment(skipped);
  t.end();
});

void t.test("the client, its examples and its tests pass a strict type check", { skip: moduleMissing("mypy") }, (t) => {
  const cache = t.testdir();
  const { status, output } = runPython("-m", "mypy", "--cache-dir", cache);
  t.equal(status, 0, output);
  t.end();
});

void t.test("its map of exchanges equals ccxt's own", { skip: moduleMissing("ccxt") }, (t) => {
  const { status, output } = runPython("-m", "unittest", "-v", "tests/test_ccxt_ids.py");
  t.equal(status, 0, output);
  t.notMatch(output, "skipped");
  t.end();
});

void t.test(
  "a wheel contains the modules, the types' marker and the licence",
  { skip: moduleMissing("flit_core") },
  (t) => {
    const folder = t.testdir();
    const build = `import flit_core.buildapi as build; print(build.build_wheel(${JSON.stringify(folder)}))`;
    const { status, output } = runPython("-c", build);
    t.equal(status, 0, output);
    t.strictSame(readdirSync(folder), [`venuewatch-${version}-py3-none-any.whl`]);
    const read = `import json, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = wheel.namelist()
print(json.dumps([names, wheel.read(next(name for name in names if name.endswith("METADATA"))).decode()]))`;
    const { stdout } = spawnSync("python3", ["-c", read, `${folder}/${readdirSync(folder)[0]}`], { encoding: "utf8" });
    const [names, metadata] = JSON.parse(stdout) as [string[], string];
    for (const name of ["__init__.py", "_watch.py", "types.py", "ccxt_ids.py", "py.typed"])
      t.ok(names.includes(`venuewatch/${name}`), name);
    t.ok(names.some((name) => /dist-info\/.*LICENSE$/.test(name)));
    const others = names.filter((name) => !name.startsWith("venuewatch"));
    t.strictSame(others, []);
    const markdown = "Description-Content-Type: text/markdown";
    for (const field of [`License-Expression: ${license}`, "Requires-Python: >=3.10", markdown])
      t.match(metadata, field);
    t.notMatch(metadata, "Requires-Dist", "it has no dependencies");
    t.end();
  },
);
