/** All SQL of the product, as the parser of the oldest promised PostgreSQL reads it (the package's major version). */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadModule, parseSync } from "libpg-query";
import ts from "typescript";
import { packagedFile } from "../../shared/config/package.js";

await loadModule();

export interface ParsedSql {
  path: string;
  /** Of one file, function body, statement or text of a program. */
  text: string;
  /** Null where the parser refuses it. */
  names: Names | null;
  fault: string | null;
}

export interface Names {
  functions: Set<string>;
  /** By each name under which a statement reads them. */
  relations: Map<string, string>;
  /** Such as `alias.column`, or `.column`. */
  columns: Set<string>;
  /** Every name and constant, these included. */
  words: Set<string>;
}

/** The major version of PostgreSQL whose grammar this is. */
export const grammar = Math.floor((parseSync("select") as { version: number }).version / 10_000);

export function parsedFiles(): ParsedSql[] {
  return filesOf("sql", ".sql").flatMap((path) => parsed(path, readFileSync(packagedFile(path), "utf8")));
}

/**
 * The texts of the programs that are SQL: templates tagged `sql`, and others that the parser accepts. A value may stand
 * for a parameter or for a name.
 */
export function parsedPrograms(): ParsedSql[] {
  return ["server", "shared", "probe"]
    .flatMap((folder) => filesOf(folder, ".ts"))
    .flatMap((path) => textsOf(path).flatMap(({ text, isSql }) => parsedText(path, text, isSql)));
}

/** With the bodies of its functions. */
export function parsed(path: string, text: string): ParsedSql[] {
  let tree: unknown;
  try {
    tree = parseSync(text);
  } catch (error) {
    return [{ path, text, names: null, fault: (error as Error).message }];
  }
  const names: Names = { functions: new Set(), relations: new Map(), columns: new Set(), words: new Set() };
  const bodies: string[] = [];
  collect(tree, names, bodies);
  return [{ path, text, names, fault: null }, ...bodies.flatMap((body) => parsed(path, body))];
}

function parsedText(path: string, text: (value: string) => string, isSql: boolean): ParsedSql[] {
  const ways = ["$1", "a_name"].map((value) => parsed(path, text(value)));
  const read = ways.find(([first]) => first!.fault === null);
  return read ?? (isSql ? ways[1]! : []);
}

type Tree = Record<string, unknown>;

function collect(node: unknown, names: Names, bodies: string[]): void {
  if (typeof node === "string") names.words.add(node);
  if (typeof node !== "object" || node === null) return;
  const { FuncCall: call, ColumnRef: column, RangeVar: range } = node as Record<string, Tree>;
  const { CreateFunctionStmt: definition, DoStmt: block } = node as Record<string, Tree>;
  if (call) names.functions.add(lastWord(call.funcname));
  if (column) names.columns.add(["", ...wordsOf(column.fields)].slice(-2).join("."));
  if (range) names.relations.set(wordsOf(range.alias)[0] ?? (range.relname as string), range.relname as string);
  if (definition ?? block) {
    const { body, isSql } = bodyOf(definition?.options ?? block?.args);
    if (isSql && body !== "") bodies.push(body);
    else collectWords(body, names);
  }
  for (const value of Object.values(node)) collect(value, names, bodies);
}

/** The body of a function or block that is a text. */
function bodyOf(options: unknown): { body: string; isSql: boolean } {
  const values = new Map(
    (options as { DefElem: Tree }[]).map(({ DefElem: { defname, arg } }) => [defname, wordsOf(arg)]),
  );
  return { body: values.get("as")?.[0] ?? "", isSql: values.get("language")?.[0] === "sql" };
}

/**
 * All words of a body of PL/pgSQL, for which the package has no parser: each may be a relation or a column, and before
 * a parenthesis a function. Its grammar is checked where the tests run on such a server.
 */
function collectWords(body: string, names: Names): void {
  for (const [, word, parenthesis] of body.matchAll(/(\w+)(\s*\()?/g)) {
    names.words.add(word!);
    names.relations.set(word!, word!);
    // most catalogues have this one, and of which it is here cannot be told
    if (word !== "oid") names.columns.add(`.${word}`);
    if (parenthesis) names.functions.add(word!);
  }
}

function lastWord(names: unknown): string {
  return wordsOf(names).at(-1)!;
}

function wordsOf(node: unknown): string[] {
  if (typeof node === "string") return [node];
  return typeof node === "object" && node !== null ? Object.values(node).flatMap(wordsOf) : [];
}

function textsOf(path: string): { text: (value: string) => string; isSql: boolean }[] {
  const source = ts.createSourceFile(path, readFileSync(packagedFile(path), "utf8"), ts.ScriptTarget.Latest, true);
  const texts: { text: (value: string) => string; isSql: boolean }[] = [];
  const visit = (node: ts.Node): void => {
    const isSql = ts.isTaggedTemplateExpression(node.parent) && node.parent.tag.getText() === "sql";
    if (ts.isTemplateExpression(node)) {
      const parts = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
      texts.push({ text: (value) => parts.join(value), isSql });
    } else if (ts.isStringLiteralLike(node)) texts.push({ text: () => node.text, isSql });
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return texts;
}

function filesOf(folder: string, ending: string): string[] {
  return readdirSync(packagedFile(folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path));
}
