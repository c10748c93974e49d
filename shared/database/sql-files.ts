/** The SQL files that make a database: what runs once, and what only defines and is made anew when it changed. */

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";

/** Where the SQL files of the package are. */
export const sqlFolder = new URL("../../../sql/", import.meta.url);

/** A file that runs once. An applied one must never change, so its checksum is kept. */
export interface SchemaFile {
  name: string;
  text: string;
  checksum: string;
  /**
   * What does the same to a database with a history, and holds its locks more briefly. Few files need it: those of
   * `online/`.
   */
  online?: string;
}

/** What only defines: views, functions and roles. Each text is one script. */
export interface Definitions {
  /** What every migration stands on. */
  prelude: string;
  /** Everything that stands in schemas api, engine, upkeep, analytics and logins, and who may use it. */
  text: string;
  /** What only a superuser may do for it. */
  superuser: string;
  /** Of all of it. */
  checksum: string;
}

export async function schemaNames(folder: URL): Promise<string[]> {
  return sqlFiles(folder, "schema");
}

export async function readSchema(folder: URL): Promise<SchemaFile[]> {
  const names = await schemaNames(folder);
  const online = await sqlFiles(folder, "online");
  return Promise.all(
    names.map(async (name) => {
      const text = await read(folder, `schema/${name}`);
      const file = { name, text, checksum: checksumOf(text) };
      return online.includes(name) ? { ...file, online: await read(folder, `online/${name}`) } : file;
    }),
  );
}

export async function readDefinitions(folder: URL): Promise<Definitions> {
  const files = [
    "make-way.sql",
    "upkeep.sql",
    ...(await sqlFiles(folder, "kept-plans")).map((name) => `kept-plans/${name}`),
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

/** A script of the migration itself, of this build whatever folder it migrates to. */
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
