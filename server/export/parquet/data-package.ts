/**
 * `datapackage.json`, which describes a dataset: a Frictionless Data Package, version 2. A resource is one file, with
 * its size and checksum, the period that it covers, and where the schema of its columns is.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UserError } from "../../../shared/process/user-error.js";
import type { Period } from "../datasets.js";
import type { RecordFilter } from "../records.js";
import type { ParquetColumn, ParquetTable } from "./columns.js";
import { syncFolder, type WrittenFile } from "./parquet-file.js";

/** What others added is kept, such as a title or a licence. */
export interface DataPackage {
  [other: string]: unknown;
  resources: PackageResource[];
}

export interface PackageResource {
  name: string;
  /** Relative to the dataset. */
  path: string;
  [other: string]: unknown;
}

const fileOf = (folder: string) => join(folder, "datapackage.json");

/**
 * The description of the dataset in a folder; null if there is none.
 *
 * @throws UserError if the file is not a data package
 */
export async function readDataPackage(folder: string): Promise<DataPackage | null> {
  const file = fileOf(folder);
  if (!existsSync(file)) return null;
  try {
    const found = JSON.parse(await readFile(file, "utf8")) as Partial<DataPackage> | null;
    const resources = found?.resources;
    if (!Array.isArray(resources) || resources.some((one) => typeof one?.path !== "string"))
      throw new Error("its resources have no paths");
    return { ...found, resources };
  } catch (error) {
    throw new UserError(
      `--output: ${file} is not the description of a dataset (${(error as Error).message}): name another folder`,
      { cause: error },
    );
  }
}

/** Replaces the description at once: readers find the old one or the new one. */
export async function writeDataPackage(folder: string, { resources, ...others }: DataPackage): Promise<void> {
  const described = {
    $schema: "https://datapackage.org/profiles/2.0/datapackage.json",
    name: "venuewatch",
    ...others,
    resources: [...resources].sort((a, b) => (a.path < b.path ? -1 : 1)),
  };
  await writeWhole(fileOf(folder), `${JSON.stringify(described, null, 2)}\n`);
}

export function resourceOf(
  path: string,
  { bytes, sha256, rows }: WrittenFile,
  wanted: RecordFilter,
  covers: Period,
  schema: string,
): PackageResource {
  return {
    name: path.slice(path.lastIndexOf("/") + 1).replace(/\.parquet$/, ""),
    path,
    type: "table",
    format: "parquet",
    mediatype: "application/vnd.apache.parquet",
    bytes,
    hash: `sha256:${sha256}`,
    rows,
    from: covers.from.toISOString(),
    to: covers.to.toISOString(),
    ...scopeOf(wanted),
    schema,
  };
}

/** What the files of a dataset have in common. */
export function scopeOf({ what, venue, retracted }: RecordFilter) {
  return { what, venue, retracted };
}

/**
 * Writes the schema of a table into a file, and returns its path relative to the dataset. The name depends on the
 * content, so that files of a later version, which has another column, do not change the schema of earlier ones.
 */
export async function writeTableSchema(
  folder: string,
  what: string,
  { columns, description }: ParquetTable,
  key: readonly string[],
): Promise<string> {
  const schema = { description, fields: columns.map(fieldOf), primaryKey: key };
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  const path = `schemas/${what}-${digest}.json`;
  if (!existsSync(join(folder, path))) await writeWhole(join(folder, path), text);
  return path;
}

function fieldOf({ name, description, words, isKey, field }: ParquetColumn) {
  const unit = unitOf(name);
  const constraints = { ...(isKey && { required: true }), ...(words && { enum: words }) };
  return {
    name,
    ...field,
    ...(description !== null && { description }),
    ...(unit !== null && { unit }),
    ...(Object.keys(constraints).length > 0 && { constraints }),
  };
}

const units: Record<string, string> = { ms: "milliseconds", s: "seconds", minutes: "minutes", pct: "percent" };

/** The views for analysts name columns after their units. */
function unitOf(name: string): string | null {
  return units[/_([a-z]+)$/.exec(name)?.[1] ?? ""] ?? null;
}

async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.unfinished`;
  const handle = await open(unfinished, "w");
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, path);
  await syncFolder(dirname(path));
}
