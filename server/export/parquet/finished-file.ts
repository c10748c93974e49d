import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { UserError } from "../../../shared/process/user-error.js";
import type { Key } from "../records.js";
import type { ParquetColumn } from "./columns.js";
import type { WrittenFile } from "./parquet-file.js";

/**
 * What an interrupted export had already finished of a file, read from the file itself, with the key of its last row;
 * null: it has no row.
 *
 * @throws UserError if it is not a whole Parquet file with these columns
 */
export async function readFinishedFile(
  path: string,
  columns: readonly ParquetColumn[],
  key: readonly string[],
): Promise<WrittenFile & { last: Key | null }> {
  try {
    const { size: bytes } = await stat(path);
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const names = metadata.row_groups[0]?.columns.map(({ meta_data }) => meta_data?.path_in_schema[0]);
    if (names && names.join() !== columns.map(({ name }) => name).join()) throw new Error("it has other columns");
    const rows = Number(metadata.num_rows);
    const [row] =
      rows === 0
        ? []
        : await parquetReadObjects({
            ...{ file, metadata, columns: [...key], rowStart: rows - 1, rowEnd: rows },
            compressors: { GZIP: (piece: Uint8Array) => gunzipSync(piece) },
          });
    const last = row ? key.map((name) => asRead(columns, name, row[name])) : null;
    return { bytes, sha256: await sha256Of(path), rows, last };
  } catch (error) {
    throw new UserError(
      `--resume: ${path} is not a file of this export (${(error as Error).message}): remove it and resume again`,
      { cause: error },
    );
  }
}

function asRead(columns: readonly ParquetColumn[], name: string, value: unknown): unknown {
  return columns.find((column) => column.name === name)!.fromParquet!(value);
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(piece as Buffer);
  return hash.digest("hex");
}
