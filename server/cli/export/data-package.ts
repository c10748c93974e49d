import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ParquetTable, Period, RecordFilter } from "./datasets.js";
import type { ParquetColumn, WrittenFile } from "./parquet-file.js";

// `datapackage.json`, which describes a dataset: a Frictionless Data Package, version 2. A resource is one file, with
// its size and checksum, the period that it covers, and where the schema of its columns is.

export interface PackageResource {
  name: string;
  /** Relative to the dataset. */
  path: string;
  [other: string]: unknown;
}

export async function writeDataPackage(folder: string, resources: readonly PackageResource[]): Promise<void> {
  await writeJson(join(folder, "datapackage.json"), {
    $schema: "https://datapackage.org/profiles/2.0/datapackage.json",
    name: "venuewatch",
    resources: resources.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  });
}

export function resourceOf(
  path: string,
  { bytes, sha256, rows }: WrittenFile,
  { what, venue, retracted }: RecordFilter,
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
    ...{ what, venue, retracted },
    schema,
  };
}

/** Writes the schema of a table, which its resources share, and returns its path relative to the dataset. */
export async function writeTableSchema(
  folder: string,
  what: string,
  { columns, description }: ParquetTable,
  key: readonly string[],
): Promise<string> {
  const path = `schemas/${what}.json`;
  await mkdir(join(folder, "schemas"));
  await writeJson(join(folder, path), { description, fields: columns.map(fieldOf), primaryKey: key });
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

const unitNames: Record<string, string> = { ms: "milliseconds", s: "seconds", minutes: "minutes", pct: "percent" };

/** The views for analysts name columns after their units. */
function unitOf(name: string): string | null {
  return unitNames[/_([a-z]+)$/.exec(name)?.[1] ?? ""] ?? null;
}

async function writeJson(path: string, value: object): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, null, 2)}\n`, { flush: true });
}
