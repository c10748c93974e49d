/** The SQL files of a database: schema files that run once, and definitions that are recreated when they changed. */

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";

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
  const files = [
    "make-way.sql",
    ...(await sqlFiles(folder, "upkeep")).map((name) => `upkeep/${name}`),
    ...(await sqlFiles(folder, "hot-path")).map((name) => `hot-path/${name}`),
    ...(await sqlFiles(folder, "engine")).map((name) => `engine/${name}`),
    ...(await sqlFiles(folder, "views")).map((name) => `views/${name}`),
    "grants.sql",
    "roles.sql",
    "logins.sql",
  ];
  const texts = await Promise.all(files.map((file) => read(folder, file)));
  const prelude = await read(folder, "prelude.sql");
  const text = texts.join("\n");
  const superuser = await read(folder, "superuser.sql");
  const checksum = checksumOf(prelude + text + superuser);
  return { prelude, text, superuser, checksum };
}

/** A script of the migration itself: always of this build, whichever folder it migrates to. */
export function readScript(name: string): Promise<string> {
  return read(sqlFolder, name);
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
