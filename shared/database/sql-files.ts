/** The SQL files of a database: schema files that run once, and definitions that are recreated when they changed. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { sep } from "node:path";

/** The areas with functions and views, in the order in which these are created. */
const definedIn = ["rollups", "probe", "engine", "alerts", "board", "analytics"];

/** The package's SQL files. */
export const sqlFolder = new URL("../../../sql/", import.meta.url);

/** A file that runs once. An applied file must never change, so its checksum is stored. */
export interface SchemaFile {
  name: string;
  text: string;
  checksum: string;
}

/** Views, functions and roles. Each text is one script. */
export interface Definitions {
  /** Required by every migration. */
  prelude: string;
  /** Everything in schemas api, engine, upkeep, analytics and logins, with its grants. */
  text: string;
  /** The part that only a superuser may run. */
  superuser: string;
  /** The checksum of all three. */
  checksum: string;
}

export async function schemaNames(folder: URL): Promise<string[]> {
  return sqlFiles(folder, "schema");
}

export async function readSchema(folder: URL): Promise<SchemaFile[]> {
  const names = await schemaNames(folder);
  return Promise.all(
    names.map(async (name) => {
      const text = await read(folder, `schema/${name}`);
      return { name, text, checksum: checksumOf(text) };
    }),
  );
}

export async function readDefinitions(folder: URL): Promise<Definitions> {
  const areas = await Promise.all(
    definedIn.map(async (area) => (await sqlFiles(folder, area)).filter(isDefinition).map((name) => `${area}/${name}`)),
  );
  const files = ["make-way", "grants", "roles", "logins"].map((name) => `database/${name}.sql`);
  files.splice(1, 0, ...areas.flat());
  const texts = await Promise.all(files.map((file) => read(folder, file)));
  const prelude = await read(folder, "database/prelude.sql");
  const text = texts.join("\n");
  const superuser = await read(folder, "database/superuser.sql");
  const checksum = checksumOf(prelude + text + superuser);
  return { prelude, text, superuser, checksum };
}

/** A script of the migration itself: always of this build, whichever folder it migrates to. */
export function readScript(name: string): Promise<string> {
  return read(sqlFolder, `database/${name}`);
}

const statements = new Map<string, string>();

/** The text of a program's statement, which stands in the folder of its area: `tick` is `sql/engine/tick.sql`. */
export function statementText(name: string): string {
  if (statements.size === 0) readStatements();
  const text = statements.get(name);
  if (text === undefined) throw new Error(`expected a statement ${name}.sql in a folder of sql/, found none`);
  return text;
}

function readStatements(): void {
  for (const path of readdirSync(sqlFolder, { recursive: true, encoding: "utf8" })) {
    const [area, file] = path.split(sep);
    if (file === undefined || !file.endsWith(".sql") || area === "schema" || isDefinition(file)) continue;
    const name = file.slice(0, -".sql".length);
    if (statements.has(name)) throw new Error(`expected one statement ${name}.sql in the folders of sql/, found two`);
    statements.set(name, readFileSync(new URL(path, sqlFolder), "utf8"));
  }
}

/** Functions and views are numbered, because some use earlier ones. */
function isDefinition(file: string): boolean {
  return /^\d/.test(file);
}

function checksumOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function sqlFiles(folder: URL, name: string): Promise<string[]> {
  const names = await readdir(new URL(`${name}/`, folder));
  return names.filter((file) => file.endsWith(".sql")).sort();
}

function read(folder: URL, path: string): Promise<string> {
  return readFile(new URL(path, folder), "utf8");
}
