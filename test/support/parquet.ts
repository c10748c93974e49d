/** Reads Parquet files with two readers of others: hyparquet, and DuckDB's program where it is installed. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";

export type ParquetRecord = Record<string, unknown>;

/** The rows of a file as JSON has them: instants in ISO 8601, days as text, integers as numbers. */
export async function parquetRows(path: string): Promise<ParquetRecord[]> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const days = metadata.schema.filter(({ converted_type }) => converted_type === "DATE").map(({ name }) => name);
  const rows = await parquetReadObjects({
    ...{ file, metadata },
    compressors: { GZIP: (piece: Uint8Array) => gunzipSync(piece) },
  });
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asJson(value, days.includes(name))])),
  );
}

function asJson(value: unknown, isDay: boolean): unknown {
  if (value instanceof Date) return isDay ? value.toISOString().slice(0, 10) : value.toISOString();
  return typeof value === "bigint" ? Number(value) : value;
}

/** How many rows each row group of a file has. */
export async function groupRowsOf(path: string): Promise<number[]> {
  const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  return row_groups.map(({ num_rows }) => Number(num_rows));
}

/** Paths of all files in a folder, relative to it, in order. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

export const noDuckdb =
  spawnSync("duckdb", ["-version"]).error !== undefined && "duckdb is not installed (pip install duckdb-cli)";

/** @param cwd relative paths of the query begin there */
export function duckdb(query: string, cwd: string): ParquetRecord[] {
  const { status, stdout, stderr } = spawnSync("duckdb", ["-json", "-c", query], {
    ...{ encoding: "utf8", cwd },
    // its home has no settings of a user
    env: { PATH: process.env["PATH"], HOME: cwd },
  });
  if (status !== 0) throw new Error(`${query}: ${stderr}`);
  return stdout.trim() === "" ? [] : (JSON.parse(stdout) as ParquetRecord[]);
}
