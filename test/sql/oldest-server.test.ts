/**
 * The usual run has only the embedded database, whose PostgreSQL is newer than the oldest promised one. So this
 * compares all SQL with the grammar and the names of that one. TimescaleDB needs no list: the embedded database has the
 * oldest promised release.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { loadModule, parseSync } from "libpg-query";
import t from "tap";
import ts from "typescript";
import { packagedFile } from "../../shared/config/package.js";
import { sql } from "../../shared/database/pool.js";
import { supportedServers } from "../../server/database/supported-servers.js";
import { migratedDatabase } from "../support/database.js";

await loadModule();

/** The major version of PostgreSQL whose grammar this is. */
const grammar = Math.floor((parseSync("select") as { version: number }).version / 10_000);

type Kind = "functions" | "overloads" | "types" | "relations" | "columns" | "settings" | "roles";

/** By major version, what PostgreSQL added: test/write-newer-names.ts. */
const added = JSON.parse(readFileSync(packagedFile("test/support/newer-names.json"), "utf8")) as Record<
  string,
  Record<Kind, string[]>
>;
const oldest = Math.min(...Object.keys(supportedServers).map(Number));
const newer = Object.entries(added).filter(([major]) => Number(major) > oldest);
const product = [...parsedFiles(), ...parsedPrograms()];

void t.test("the lists and the grammar are those of the promised servers", async (t) => {
  t.equal(grammar, oldest, "the major version of libpg-query in package.json");
  t.same(Object.keys(added).map(Number), Object.keys(supportedServers).map(Number).slice(1));
  const { pool } = await migratedDatabase(t);
  const [here] = await pool.query<{ major: number }>(
    sql`select current_setting('server_version_num')::int / 10000 as major`,
  );
  t.ok(String(here!.major) in supportedServers, `the lists reach to this database's PostgreSQL ${here!.major}`);
});

void t.test("the oldest promised PostgreSQL parses all SQL", (t) => {
  t.ok(product.length > 400, `${product.length} texts`);
  const faults = product.filter(({ fault }) => fault !== null);
  t.strictSame(
    faults.map(({ path, text, fault }) => `${path}: ${fault}: ${text.slice(0, 200)}`),
    [],
  );
  t.end();
});

void t.test("all SQL uses only names that the oldest promised PostgreSQL has", (t) => {
  t.strictSame(product.flatMap(newerNames), []);
  t.end();
});

void t.test("no view or function uses a form of a function that the oldest promised PostgreSQL lacks", async (t) => {
  const { pool } = await migratedDatabase(t);
  const overloads = newer.flatMap(([, { overloads }]) => overloads);
  const used = await pool.query<{ object: string; uses: string }>(sql`
    with parsed as (
      select ev_class::regclass::text as object, ev_action::text as tree from pg_rewrite where oid >= 16384
      union all
      select oid::regprocedure::text, prosqlbody::text from pg_proc where prosqlbody is not null
      union all
      select conname, conbin::text from pg_constraint where conbin is not null
      union all
      select adrelid::regclass::text, adbin::text from pg_attrdef
      union all
      select indexrelid::regclass::text, concat(indexprs::text, indpred::text) from pg_index where indexrelid >= 16384
    )
    select distinct object, name as uses
    from parsed
    cross join regexp_matches(tree, ':(?:funcid|opfuncid|aggfnoid|winfnoid) (\\d+)', 'g') as found
    cross join lateral (values (found[1]::oid::regprocedure::text)) of_it (name)
  `);
  t.ok(used.length > 1000, `${used.length} uses`);
  t.strictSame(
    used.filter(({ uses }) => overloads.includes(uses)),
    [],
  );
});

void t.test("what is newer than the oldest promised PostgreSQL is found, wherever it stands", (t) => {
  const plpgsql = (body: string) => `create function f() returns void language plpgsql as $$ ${body} $$`;
  for (const [text, found] of [
    ["select pg_input_is_valid(e, 'timestamptz') from entry e", "pg_input_is_valid"],
    ["create view v as select any_value(x order by y) from a group by z", "any_value"],
    [
      "create function f() returns text language sql return (select pg_input_is_valid('a', 'b')::text)",
      "pg_input_is_valid",
    ],
    ["create function f() returns text language sql as $$ select random_normal()::text $$", "random_normal"],
    [plpgsql("declare a int := random_normal(); begin end;"), "random_normal"],
    [plpgsql("begin if a then b := case when c then d else random_normal() end; end if; end;"), "random_normal"],
    [plpgsql("begin open c for select random_normal(); /* */ perform f(); end;"), "random_normal"],
    [plpgsql("begin raise exception using message = random_normal(); end;"), "random_normal"],
    [plpgsql("declare a int default random_normal(); begin a = 1; end;"), "random_normal"],
    [plpgsql("begin if exists (select from pg_auth_members where inherit_option) then end if; end;"), "inherit_option"],
    ["do $$ begin perform pg_input_is_valid('a', 'b'); end $$", "pg_input_is_valid"],
    ["select m.inherit_option from pg_auth_members m", "pg_auth_members.inherit_option"],
    ["select inherit_option from pg_catalog.pg_auth_members", "pg_auth_members.inherit_option"],
    ["select reads from pg_stat_io", "pg_stat_io"],
    ["set transaction_timeout = '1s'", "transaction_timeout"],
    ["grant pg_maintain to somebody", "pg_maintain"],
    ["grant a to b with set false", "syntax error"],
    ["select * from (select 1)", "must have an alias"],
    ["select x is json", "syntax error"],
    ["merge into a using b on a.c = b.c when matched then delete returning a.c", "syntax error"],
  ] as const) {
    const faults = parsed("", text).flatMap((one) => [...(one.fault === null ? [] : [one.fault]), ...newerNames(one)]);
    t.match(faults.join(), found, text);
  }
  t.end();
});

function newerNames({ path, names }: ParsedSql): string[] {
  if (names === null) return [];
  const { functions, relations, columns, words } = names;
  const read = [...relations];
  return newer.flatMap(([major, kinds]) =>
    [
      ...kinds.functions.filter((name) => functions.has(name)),
      ...kinds.relations.filter((name) => read.some(([, relation]) => relation === name)),
      ...[...kinds.types, ...kinds.settings, ...kinds.roles].filter((name) => words.has(name)),
      ...kinds.columns.filter((name) => {
        const [of = "", column = ""] = name.split(".");
        return read.some(
          ([alias, relation]) => relation === of && [alias, ""].some((from) => columns.has(`${from}.${column}`)),
        );
      }),
    ].map((name) => `${path}: ${name} is of PostgreSQL ${major}`),
  );
}

interface ParsedSql {
  path: string;
  /** Of one file, function body, statement or text of a program. */
  text: string;
  /** Null where the parser refuses it. */
  names: Names | null;
  fault: string | null;
}

interface Names {
  functions: Set<string>;
  /** By each name under which a statement reads them. */
  relations: Map<string, string>;
  /** Such as `alias.column`, or `.column`. */
  columns: Set<string>;
  /** Every name and constant, these included. */
  words: Set<string>;
}

function parsedFiles(): ParsedSql[] {
  return filesOf("sql", ".sql").flatMap((path) => parsed(path, readFileSync(packagedFile(path), "utf8")));
}

/**
 * The texts of the programs that are SQL: templates tagged `sql`, and others that the parser accepts. A value may stand
 * for a parameter or for a name.
 */
function parsedPrograms(): ParsedSql[] {
  return ["server", "shared", "probe"]
    .flatMap((folder) => filesOf(folder, ".ts"))
    .flatMap((path) => textsOf(path).flatMap(({ text, isSql }) => parsedText(path, text, isSql)));
}

/** With the bodies of its functions. */
function parsed(path: string, text: string): ParsedSql[] {
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
