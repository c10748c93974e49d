/** A copy of the package's SQL files to change, as if they were those of another build. */
import { cp, readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type { Test } from "tap";
import { sqlFolder } from "../../shared/database/sql-files.js";

export async function sqlCopy(t: Test): Promise<URL> {
  const folder = t.testdir();
  await cp(sqlFolder, folder, { recursive: true });
  return pathToFileURL(`${folder}/`);
}

/** Appends to a file, or creates it. */
export async function append(folder: URL, path: string, text: string): Promise<void> {
  const file = new URL(path, folder);
  const before = await readFile(file, "utf8").catch(() => "");
  await writeFile(file, before + text);
}
