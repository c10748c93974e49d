import { createHash, type Hash } from "node:crypto";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { gzipSync } from "node:zlib";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { version } from "../../../shared/config/package.js";
import { type ParquetColumn, parquetSchemaOf } from "./datasets.js";

/** A finished file. */
export interface WrittenFile {
  bytes: number;
  /** In hexadecimal. */
  sha256: string;
  rows: number;
}

/** A Parquet file that is being written. */
export interface GrowingFile {
  /** How many rows it has so far. */
  readonly rows: number;
  /** Writes a row group whenever enough rows have come. */
  append(rows: readonly unknown[][]): Promise<void>;
  /** Writes the rest, to the disk. */
  finish(): Promise<WrittenFile>;
  /** Closes the unfinished file. */
  abandon(): Promise<void>;
}

/**
 * Creates a file, and its folder. Memory is bounded by one row group.
 *
 * @param key names of the columns by which the rows are sorted; their time is delta-encoded
 */
export async function createParquetFile(
  path: string,
  columns: readonly ParquetColumn[],
  { key, groupRows }: { key: readonly string[]; groupRows: number },
): Promise<GrowingFile> {
  await mkdir(dirname(path), { recursive: true });
  const handle = await open(path, "wx");
  const out = new FileWriter(handle);
  const parquet = new ParquetWriter({
    writer: out,
    schema: parquetSchemaOf(columns),
    codec: "GZIP",
    compressors: { GZIP: (bytes) => gzipSync(bytes) },
    createdBy: `venuewatch version ${version} (hyparquet-writer)`,
  });
  const sorting = key.map((name) => ({
    column_idx: columns.findIndex((column) => column.name === name),
    descending: false,
    nulls_first: false,
  }));
  let group: unknown[][] = columns.map(() => []);
  let rows = 0;

  async function writeGroup(): Promise<void> {
    const size = group[0]!.length;
    if (size === 0) return;
    const columnData = columns.map(({ name, isKey, elements }, i) => ({
      name,
      data: group[i]!,
      // instants of a series rise evenly, so this encoding shrinks them to next to nothing
      ...(isKey && elements[0]!.type === "INT64" && { encoding: "DELTA_BINARY_PACKED" as const }),
    }));
    group = columns.map(() => []);
    await parquet.write({ columnData, rowGroupSize: size });
    parquet.row_groups.at(-1)!.sorting_columns = sorting;
  }

  return {
    get rows() {
      return rows;
    },
    async append(more) {
      for (const row of more) {
        for (const [i, { toParquet }] of columns.entries()) {
          const value = row[i];
          group[i]!.push(value === null || value === undefined ? null : toParquet(value));
        }
        rows += 1;
        if (group[0]!.length === groupRows) await writeGroup();
      }
    },
    async finish() {
      await writeGroup();
      await parquet.finish();
      await out.flush();
      await handle.sync();
      await handle.close();
      return { bytes: out.offset, sha256: out.hash.digest("hex"), rows };
    },
    abandon: () => handle.close(),
  };
}

/** Writes to the disk what the library has encoded, a row group at a time. */
class FileWriter extends ByteWriter {
  readonly hash: Hash = createHash("sha256");
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    super();
    this.#handle = handle;
  }

  async flush(): Promise<void> {
    const piece = this.getBytes();
    this.hash.update(piece);
    await this.#handle.writeFile(piece);
    this.index = 0;
  }
}
