/**
 * Files have at most 450 lines, functions 120 in TypeScript and 150 in SQL. A longer function gives its reason in a
 * comment above it that begins with "Longer than 120 lines:". The callback of a group of tests is as long as they are
 * together, so that the lines of its tests and helpers do not count.
 */
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import t from "tap";
import ts from "typescript";
import { packagedFile } from "../../shared/config/package.js";

const limits = { file: 450, typescript: 120, sql: 150 };

const folders = [
  "packages",
  "clients",
  "shared",
  "probe",
  "server",
  "receiving",
  "simulator",
  "simulation",
  "test",
  "bench",
];
/** Written by openapi-typescript. */
const generated = "clients/typescript/src/openapi.ts";
// migrate refuses a schema file that was edited after it had run
const frozen = /^sql\/(schema|online)\//;

void t.test(
  "long functions are reported unless they give a reason, and groups of tests count without their tests",
  (t) => {
    const statements = "  a();\n".repeat(limits.typescript);
    const reason = "/** Longer than 120 lines: one table. */\n";
    const long = (name: string) => `function ${name}() {\n${statements}}\n`;
    t.same(longFunctions("a.ts", `${long("one")}${reason}${long("two")}const three = () => {\n${statements}};\n`), [
      "a.ts:1: 122 lines",
      "a.ts:246: 122 lines",
    ]);
    const group = (inner: string) => `t.test("", () => {\n${inner}});\n`;
    t.same(longFunctions("a.test.ts", group(`t.test("", () => {\n${statements}});\n`.slice(0, -1))), [
      "a.test.ts:2: 122 lines",
    ]);
    t.same(longFunctions("a.test.ts", group(group("  a();\n".repeat(100)) + group("  a();\n".repeat(100)))), []);
    const body = "  select 1;\n".repeat(limits.sql);
    const definition = (name: string) => `create function ${name}() returns int\nas $$\n${body}$$;\n`;
    t.same(
      longStatements(
        "a.sql",
        `-- The first.\n${definition("one")}\n-- Longer than 150 lines: it is.\n${definition("two")}`,
      ),
      ["a.sql:2: 153 lines"],
    );
    t.end();
  },
);

void t.test("files are short enough to hold one idea", (t) => {
  const paths = [...typescript(), ...sql()];
  t.ok(paths.length > 700);
  t.same(
    paths.filter((path) => linesOf(path).length > limits.file),
    [],
  );
  t.end();
});

void t.test("functions are short, or give the reason why not", (t) => {
  const mayHaveOne = typescript().filter((path) => linesOf(path).length > limits.typescript);
  t.ok(mayHaveOne.length > 200);
  t.same(
    mayHaveOne.flatMap((path) => longFunctions(path, textOf(path))),
    [],
  );
  t.same(
    sql().flatMap((path) => longStatements(path, textOf(path))),
    [],
  );
  t.end();
});

function longFunctions(path: string, text: string): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line;
  const found: string[] = [];
  visit(file);
  return found;

  function visit(node: ts.Node): void {
    if (ts.isFunctionLike(node) && "body" in node && node.body) {
      const lines = ownLines(node);
      if (lines > limits.typescript && !givesReason(node))
        found.push(`${path}:${lineAt(node.getStart()) + 1}: ${lines} lines`);
    }
    ts.forEachChild(node, visit);
  }

  function ownLines(node: ts.Node): number {
    const lines = lineAt(node.getEnd()) - lineAt(node.getStart()) + 1;
    if (!path.endsWith(".test.ts")) return lines;
    let nested = 0;
    const addNested = (child: ts.Node): void => {
      if (ts.isFunctionLike(child)) nested += lineAt(child.getEnd()) - lineAt(child.getStart()) + 1;
      else ts.forEachChild(child, addNested);
    };
    ts.forEachChild(node, addNested);
    return lines - nested;
  }

  function givesReason(node: ts.Node): boolean {
    // an arrow function has its comment above the statement that it is part of
    for (let at: ts.Node = node; at.parent; at = at.parent)
      if (/Longer than 120 lines: \w/.test(text.slice(at.getFullStart(), at.getStart()))) return true;
      else if (ts.isStatement(at) && at !== node) return false;
    return false;
  }
}

/** Statements that create functions, procedures and views: they end with the file or where the next one begins. */
function longStatements(path: string, text: string): string[] {
  const pieces = text.split(/^(?=create (?:function|procedure|view) )/m);
  let line = 1;
  return pieces.flatMap((piece, place) => {
    const startsAt = line;
    line += piece.split("\n").length - 1;
    const comment = pieces[place - 1]?.split(/\n\n/).at(-1) ?? "";
    const lines = piece
      .replace(/\n\n-- [^]*$/, "\n")
      .trimEnd()
      .split("\n").length;
    const isLong = piece.startsWith("create ") && lines > limits.sql && !comment.includes("Longer than 150 lines: ");
    return isLong ? [`${path}:${startsAt}: ${lines} lines`] : [];
  });
}

function typescript(): string[] {
  return folders
    .flatMap((folder) => filesIn(folder, /\.tsx?$/))
    .filter((path) => path !== generated && !/\/(node_modules|dist)\//.test(path));
}

function sql(): string[] {
  return filesIn("sql", /\.sql$/).filter((path) => !frozen.test(path));
}

function filesIn(folder: string, name: RegExp): string[] {
  return readdirSync(packagedFile(folder), { recursive: true, encoding: "utf8" })
    .filter((path) => name.test(path))
    .map((path) => posix.join(folder, path.replaceAll("\\", "/")));
}

function textOf(path: string): string {
  return readFileSync(packagedFile(path), "utf8");
}

function linesOf(path: string): string[] {
  return textOf(path).trimEnd().split("\n");
}
