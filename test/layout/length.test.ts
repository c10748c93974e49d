/**
 * Files of code have at most 450 lines, functions 120 in TypeScript and 150 in SQL. A longer function gives its reason
 * in a comment above it that begins with "Longer than 120 lines:", in SQL with "Longer than 150 lines:". The length of
 * a group of tests does not count the tests and the named functions inside it. Statements of `sql/queries/` are no
 * functions.
 */
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import t from "tap";
import ts from "typescript";
import { packagedFile } from "../../shared/config/package.js";

const limits = { file: 450, typescript: 120, sql: 150 };

/** With the number of files that each has at least. */
const folders = {
  ...{ packages: 20, clients: 5, shared: 40, probe: 60, server: 300, receiving: 1, simulator: 40, simulation: 60 },
  ...{ test: 400, bench: 20, sql: 80 },
};
/** Written by openapi-typescript. */
const generated = "clients/typescript/src/openapi.ts";
// what has run somewhere is not edited
const frozen = /^sql\/(schema|online)\//;

void t.test("long functions are reported unless they give a reason", (t) => {
  const statements = "  a();\n".repeat(limits.typescript);
  const long = (head: string) => `${head} {\n${statements}}\n`;
  const reason = "/** Longer than 120 lines: one table. */\n";
  const found = (text: string) => longFunctions("a.ts", text);
  t.same(found(`${long("function one()")}${reason}${long("function two()")}${long("const three = () =>")}`), [
    "a.ts:1: 122 lines",
    "a.ts:246: 122 lines",
  ]);
  t.same(found(`${reason}function outer() {\n${long("function inner()")}}\n`), ["a.ts:3: 122 lines"]);
  t.same(found(`${reason}const all = {\n${long("one()").trimEnd()},\n};\n`), ["a.ts:3: 122 lines"]);
  t.end();
});

void t.test("a group of tests is as long as what it does besides its tests", (t) => {
  const found = (text: string) => longFunctions("a.test.ts", text);
  const test = (inner: string) => `void t.test("", (t) => {\n${inner}});\n`;
  const statements = (count: number) => "  t.ok(rows.some((row) => row.ok));\n".repeat(count);
  t.same(found(test(test(statements(100)) + test(statements(100)))), []);
  t.same(found(test(`function help() {\n${statements(100)}}\n${statements(100)}`)), []);
  t.same(found(test(test(statements(120)))), ["a.test.ts:2: 122 lines"]);
  t.same(found(test(`${test(statements(10))}${statements(119)}`)), ["a.test.ts:1: 121 lines"]);
  t.end();
});

void t.test("long definitions in SQL are reported unless they give a reason", (t) => {
  const body = `${"  select 1;\n".repeat(limits.sql / 2)}\n-- step two\n${"  select 1;\n".repeat(limits.sql / 2)}`;
  const definition = (name: string) => `create function ${name}() returns int\nas $$\n${body}$$;\n`;
  const text = `-- The first.\n${definition("one")}\n-- Longer than 150 lines: it is.\n${definition("two")}`;
  t.same(definitionsIn("a.sql", text), { count: 2, long: ["a.sql:2: 155 lines"] });
  t.end();
});

void t.test("files are short enough to hold one idea", (t) => {
  for (const [folder, least] of Object.entries(folders)) t.ok(filesIn(folder).length >= least, folder);
  const tooLong = Object.keys(folders)
    .flatMap(filesIn)
    .filter((path) => linesOf(path).length > limits.file);
  t.same(tooLong, [], `at most ${limits.file} lines: divide the file by its ideas`);
  t.end();
});

void t.test("functions are short, or give the reason why not", (t) => {
  const [sql, typescript] = [/\.sql$/, /\.tsx?$/].map((kind) =>
    Object.keys(folders)
      .flatMap(filesIn)
      .filter((path) => kind.test(path)),
  ) as [string[], string[]];
  const functions = typescript
    .filter((path) => linesOf(path).length > limits.typescript)
    .flatMap((path) => longFunctions(path, textOf(path)));
  t.same(functions, [], "divide it, or give the reason in a comment: Longer than 120 lines: …");
  const definitions = sql.map((path) => definitionsIn(path, textOf(path)));
  t.ok(definitions.reduce((sum, { count }) => sum + count, 0) > 200);
  const long = definitions.flatMap((one) => one.long);
  t.same(long, [], "divide it, or give the reason in a comment: Longer than 150 lines: …");
  t.end();
});

function longFunctions(path: string, text: string): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line;
  const linesOfNode = (node: ts.Node) => lineAt(node.getEnd()) - lineAt(node.getStart()) + 1;
  const found: string[] = [];
  visit(file);
  return found;

  function visit(node: ts.Node): void {
    if (ts.isFunctionLike(node) && "body" in node && node.body) {
      const lines = linesOfNode(node) - (path.endsWith(".test.ts") ? linesOfTestsIn(node) : 0);
      if (lines > limits.typescript && !givesReason(node))
        found.push(`${path}:${lineAt(node.getStart()) + 1}: ${lines} lines`);
    }
    ts.forEachChild(node, visit);
  }

  function linesOfTestsIn(node: ts.Node): number {
    let lines = 0;
    ts.forEachChild(node, (child) => {
      lines += isTest(child) || ts.isFunctionDeclaration(child) ? linesOfNode(child) : linesOfTestsIn(child);
    });
    return lines;
  }

  function givesReason(node: ts.Node): boolean {
    const isBefore = (at: ts.Node) => /Longer than 120 lines: \w/.test(text.slice(at.getFullStart(), at.getStart()));
    if (isBefore(node)) return true;
    // an arrow function has its comment above the statement that it is part of
    let at: ts.Node = node;
    do at = at.parent;
    while (!ts.isStatement(at) && !ts.isObjectLiteralExpression(at) && !ts.isSourceFile(at));
    return !ts.isFunctionDeclaration(node) && ts.isStatement(at) && isBefore(at);
  }
}

/** A call of `t.test` with a callback. */
function isTest(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  return node.expression.name.text === "test" && node.arguments.some((given) => ts.isFunctionLike(given));
}

/** Functions, procedures and views. */
function definitionsIn(path: string, text: string): { count: number; long: string[] } {
  const pieces = text.split(/^(?=create (?:function|procedure|view) )/m);
  let line = 1;
  const definitions = pieces.flatMap((piece, place) => {
    const startLine = line;
    line += piece.split("\n").length - 1;
    if (!piece.startsWith("create ")) return [];
    const end = piece.includes("$$") ? /\$\$;/ : piece.includes("begin atomic") ? /^end;/m : /;$/m;
    const lines = piece.slice(0, piece.search(end)).split("\n").length;
    const comment = pieces[place - 1]?.split(";").at(-1) ?? "";
    return [{ startLine, lines, hasReason: /^-- (.*\. )?Longer than 150 lines: \w/m.test(comment) }];
  });
  const long = definitions.filter(({ lines, hasReason }) => lines > limits.sql && !hasReason);
  return {
    count: definitions.length,
    long: long.map(({ startLine, lines }) => `${path}:${startLine}: ${lines} lines`),
  };
}

function filesIn(folder: string): string[] {
  return readdirSync(packagedFile(folder), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(tsx?|sql)$/.test(path))
    .map((path) => posix.join(folder, path.replaceAll("\\", "/")))
    .filter((path) => path !== generated && !frozen.test(path) && !/\/(node_modules|dist)\//.test(path));
}

function textOf(path: string): string {
  return readFileSync(packagedFile(path), "utf8");
}

function linesOf(path: string): string[] {
  return textOf(path).trimEnd().split("\n");
}
