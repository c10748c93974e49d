/** The SQL files that make a database: what runs once, and what is made anew at every migration. */

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";

/** Where the SQL files of the package are. */
export const sqlFolder = new URL("../../sql/", import.meta.url);

/** A file that runs once. An applied one must never change, so its checksum is kept. */
export interface SchemaFile {
  name: string;
  text: string;
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
      const checksum = createHash("sha256").update(text).digest("hex");
      return { name, text, checksum };
    }),
  );
}

/** What every migration starts from, and what it ends with; each is one script. */
export async function readDefinitions(
  folder: URL,
): Promise<{ prelude: string; definitions: string }> {
  const files = [
    "upkeep.sql",
    ...(await sqlFiles(folder, "engine")).map((name) => `engine/${name}`),
    ...(await sqlFiles(folder, "views")).map((name) => `views/${name}`),
    "roles.sql",
    "logins.sql",
  ];
  const texts = await Promise.all(files.map((file) => read(folder, file)));
  return {
    prelude: await read(folder, "prelude.sql"),
    definitions: texts.join("\n"),
  };
}

async function sqlFiles(folder: URL, name: string): Promise<string[]> {
  const names = await readdir(new URL(`${name}/`, folder));
  return names.filter((file) => file.endsWith(".sql")).sort();
}

function read(folder: URL, path: string): Promise<string> {
  return readFile(new URL(path, folder), "utf8");
}
