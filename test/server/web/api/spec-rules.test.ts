/** Every rule of the contract has a test that runs, and every test named after a rule is in the table. */
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import t from "tap";
import ts from "typescript";
import { packagedFile } from "../../../../shared/config/package.js";
import { rulesOfAlerts } from "../../../support/spec-rules/alerts.js";
import { rulesOfEveryAnswer } from "../../../support/spec-rules/every-answer.js";
import { rulesOfFleet } from "../../../support/spec-rules/fleet.js";
import { rulesOfIncidents } from "../../../support/spec-rules/incidents.js";
import type { Rule } from "../../../support/spec-rules/rule.js";
import { rulesOfTablesAndMetrics } from "../../../support/spec-rules/tables-and-metrics.js";
import { rulesOfVenues } from "../../../support/spec-rules/venues.js";

const rules: Rule[] = [
  ...rulesOfEveryAnswer,
  ...rulesOfVenues,
  ...rulesOfFleet,
  ...rulesOfIncidents,
  ...rulesOfAlerts,
  ...rulesOfTablesAndMetrics,
];

interface Named {
  /** Names of the tests that always run. */
  plain: Set<string>;
  /** Beginnings of names that end with a key of an object in the same file. */
  beginnings: string[];
  keys: Set<string>;
}

/** Names of the tests in a file that run, as written, without tests that are commented out, skipped or to be done. */
function namesIn(text: string): Named {
  const named: Named = { plain: new Set(), beginnings: [], keys: new Set() };
  const file = ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest);
  visit(file);
  return named;

  function visit(node: ts.Node): void {
    if (ts.isPropertyAssignment(node) && ts.isStringLiteral(node.name)) named.keys.add(node.name.text);
    if (ts.isCallExpression(node)) {
      const called = node.expression;
      const method = ts.isPropertyAccessExpression(called) && called.name.text;
      // inner tests do not run either
      if (method === "skip" || method === "todo") return;
      if (method === "test" && !runs(node.arguments)) return;
      if (method === "test") note(node.arguments[0]);
    }
    ts.forEachChild(node, visit);
  }

  function note(name: ts.Expression | undefined): void {
    if (name && ts.isStringLiteralLike(name)) named.plain.add(name.text);
    if (name && ts.isTemplateExpression(name)) named.beginnings.push(name.head.text);
  }
}

/** Tests that skip themselves on some machines do not always run either. */
function runs(given: ts.NodeArray<ts.Expression>): boolean {
  const unless = given
    .filter(ts.isObjectLiteralExpression)
    .flatMap(({ properties }) => properties.map(({ name }) => name))
    .some((name) => name && /^(skip|todo)$/.test((name as ts.Identifier).text));
  const does = given.slice(1).some((part) => !ts.isObjectLiteralExpression(part));
  return does && !unless;
}

function has({ plain, beginnings, keys }: Named, name: string): boolean {
  return plain.has(name) || beginnings.some((begin) => name.startsWith(begin) && keys.has(name.slice(begin.length)));
}

const files = new Map(
  readdirSync(packagedFile("test"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => {
      const text = readFileSync(packagedFile(`test/${path}`), "utf8");
      return [basename(path), namesIn(text)];
    }),
);

void t.test("only a test that runs covers a rule", (t) => {
  const { plain } = namesIn(`
    void t.test("runs", (t) => {});
    await t.test("runs too", async (t) => { await t.test("within", check); });
    // void t.test("commented out", (t) => {});
    /* void t.test("commented out, too", (t) => {}); */
    const text = 't.test("quoted", (t) => {})';
    void t.test("skipped", { skip: true }, (t) => { void t.test("within what is skipped", check); });
    void t.test("skipped here", { skip }, (t) => {});
    void t.test("to be done", { todo: "soon" }, (t) => {});
    void t.test("without a body");
    void t.skip("turned off", (t) => { void t.test("within what is off", check); });
    void t.todo("planned", (t) => {});
  `);
  t.strictSame([...plain], ["runs", "runs too", "within"]);
  t.end();
});

void t.test("every rule of the contract has its test", (t) => {
  for (const {
    id,
    rule,
    test: [file, name],
  } of rules) {
    const found = files.get(file);
    t.ok(found && has(found, name), `${id}: ${rule}; expected ${name} in ${file}, and that it runs`);
  }
  t.end();
});

/** HTTP statuses are no limits. */
const statuses = ["200", "400", "404", "429"];

/** In the rules' words, `24h` is the number 24. */
function numbersIn(words: string): string[] {
  const numbers = words.match(/(?<![\w.])\d+(\.\d+)*/g) ?? [];
  return numbers.filter((number) => !statuses.includes(number));
}

void t.test("a rule with a number has a test whose name contains it", (t) => {
  for (const {
    id,
    rule,
    test: [, name],
  } of rules) {
    const numbers = numbersIn(rule);
    if (numbers.length === 0 && !id.startsWith("limit-")) continue;
    t.ok(name.startsWith("spec: "), `${id}: ${name} begins with "spec: "`);
    for (const number of numbers) t.ok(numbersIn(name).includes(number), `${id}: ${name} contains ${number}`);
  }
  t.end();
});

void t.test("an id names one rule", (t) => {
  const ids = rules.map(({ id }) => id);
  t.strictSame(ids, [...new Set(ids)]);
  t.end();
});

void t.test("every test named after a rule has one", (t) => {
  for (const [file, { plain, beginnings }] of files) {
    const names = rules.filter(({ test }) => test[0] === file).map(({ test }) => test[1]);
    for (const name of plain)
      if (name.startsWith("spec: ")) t.ok(names.includes(name), `${file}: ${name} is in spec-rules/`);
    for (const begin of beginnings.filter((begin) => begin.startsWith("spec: ")))
      t.ok(
        names.some((name) => name.startsWith(begin)),
        `${file}: ${begin}… is in spec-rules/`,
      );
  }
  t.end();
});
