import { createHash, type Hash } from "node:crypto";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { gzipSync } from "node:zlib";
import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import { version } from "../../../shared/config/package.js";

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

// What a column of a file is, by the type of the database.

/** How a type of the database is written and described. */
interface ColumnType {
  /** The elements of a Parquet schema, without names: the column's own first, then those inside of it. */
  elements: readonly SchemaElement[];
  /** The value that the writer expects, from one that `pg` read and that is not null. */
  toParquet: (value: unknown) => unknown;
  /** Its type in a Frictionless Table Schema. */
  field: Record<string, unknown>;
}

export interface ParquetColumn extends ColumnType {
  name: string;
  /** What it is, in one sentence; null where the view does not say. */
  description: string | null;
  /** The words that a text may be; null: any text. */
  words: string[] | null;
  /** Whether it is a part of what identifies a row. Such a column is never null. */
  isKey: boolean;
}

/** The schema of a file with these columns, from its root. */
function parquetSchemaOf(columns: readonly ParquetColumn[]): SchemaElement[] {
  return [
    { name: "root", num_children: columns.length },
    ...columns.flatMap(({ name, isKey, elements: [own, ...inner] }) => [
      { ...own!, name, repetition_type: isKey ? ("REQUIRED" as const) : ("OPTIONAL" as const) },
      ...inner,
    ]),
  ];
}

/**
 * By the name of the type in PostgreSQL. The older `converted_type` is written beside the logical type, because readers
 * that predate logical types know only that.
 *
 * @throws Error for a type that no exported view has
 */
export function columnType(name: string): ColumnType {
  const type = columnTypes[name];
  if (!type) throw new Error(`no Parquet type is chosen for columns of type ${name}`);
  return type;
}

const unchanged = (value: unknown) => value;

const textColumn: ColumnType = {
  elements: [{ name: "", type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } }],
  toParquet: unchanged,
  field: { type: "string" },
};

const columnTypes: Record<string, ColumnType> = {
  text: textColumn,
  bool: { elements: [{ name: "", type: "BOOLEAN" }], toParquet: unchanged, field: { type: "boolean" } },
  int2: integerColumn(16),
  int4: integerColumn(32),
  int8: integerColumn(64),
  float8: { elements: [{ name: "", type: "DOUBLE" }], toParquet: unchanged, field: { type: "number" } },
  // our numerics are percentages with few digits, which the pool reads as numbers
  numeric: { elements: [{ name: "", type: "DOUBLE" }], toParquet: unchanged, field: { type: "number" } },
  timestamptz: {
    elements: [
      {
        name: "",
        type: "INT64",
        converted_type: "TIMESTAMP_MILLIS",
        // without this, readers take it for local time
        logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
      },
    ],
    toParquet: unchanged,
    field: { type: "datetime" },
  },
  // the statement yields days as text: a Date would be midnight in the time zone of this process
  date: {
    elements: [{ name: "", type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } }],
    toParquet: (day) => Date.parse(`${day as string}T00:00:00Z`) / 86_400_000,
    field: { type: "date" },
  },
  jsonb: {
    elements: [{ name: "", type: "BYTE_ARRAY", converted_type: "JSON", logical_type: { type: "JSON" } }],
    toParquet: unchanged,
    field: { type: "object" },
  },
  _text: {
    elements: [
      { name: "", converted_type: "LIST", logical_type: { type: "LIST" }, num_children: 1 },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      { ...textColumn.elements[0]!, name: "element", repetition_type: "OPTIONAL" },
    ],
    toParquet: unchanged,
    field: { type: "list", itemType: "string" },
  },
};

function integerColumn(bits: 16 | 32 | 64): ColumnType {
  const type = bits === 64 ? "INT64" : "INT32";
  return {
    // no logical type: the library writes the width in a form that strict readers refuse
    elements: [{ name: "", type, ...(bits === 16 && { converted_type: "INT_16" }) }],
    toParquet: bits === 64 ? (value) => BigInt(value as number) : unchanged,
    field: { type: "integer" },
  };
}
