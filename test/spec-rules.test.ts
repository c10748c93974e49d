/** Every rule of the contract has a test, and every test that is named after a rule is in the table. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import t from "tap";
import { packagedFile } from "../server/package.js";
import { builtElsewhere, rules } from "./spec-rules.js";

/** Names of the tests in a file, as they are written: only what is said in plain words can be looked up. */
function namesIn(file: string): Set<string> {
  const path = packagedFile(`test/${file}`);
  if (!existsSync(path)) return new Set();
  const calls = readFileSync(path, "utf8").matchAll(
    /\.test\(\s*(?:"((?:[^"\\]|\\.)*)"|`(spec: fields of )\$\{path\}`)/g,
  );
  return new Set([...calls].map(([, plain, fields]) => plain ?? fields ?? ""));
}

const files = readdirSync(packagedFile("test")).filter((name) =>
  name.endsWith(".test.ts"),
);
const names = new Map(files.map((file) => [file, namesIn(file)]));

void t.test("every rule of the contract has its test", (t) => {
  for (const { id, rule, test } of rules) {
    const [file, name] = test;
    const found = names.get(file);
    // those of the fields are made in a loop over the paths
    const written = name.replace(/^(spec: fields of ).*/, "$1");
    t.ok(found?.has(written), `${id}: ${rule}; expected ${name} in ${file}`);
  }
  t.end();
});

void t.test("an id means one rule", (t) => {
  const ids = [...rules, ...builtElsewhere].map(({ id }) => id);
  t.strictSame(
    ids.filter((id, at) => ids.indexOf(id) !== at),
    [],
  );
  t.end();
});

void t.test("every test that is named after a rule has one", (t) => {
  const listed = new Set(rules.map(({ test: [file, name] }) => file + name));
  for (const [file, found] of names)
    for (const name of found)
      if (name.startsWith("spec: ") && name !== "spec: fields of ")
        t.ok(listed.has(file + name), `${file}: ${name} is in spec-rules.ts`);
  t.end();
});
