import type { SchemaElement } from "hyparquet-writer";
import { type Pool, sql } from "../../shared/database/pool.js";
import { datasets } from "./datasets.js";
import { columnsOf, type RecordFilter } from "./records.js";

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

export interface ParquetTable {
  columns: readonly ParquetColumn[];
  /** What a row is. */
  description: string | null;
}

interface DescribedColumn {
  name: string;
  type: string;
  words: string[] | null;
  description: string | null;
}

/** The columns that an export of these records has, as the view describes them to analysts. */
export async function tableOf(pool: Pool, wanted: RecordFilter): Promise<ParquetTable> {
  const view = `analytics.${wanted.what}`;
  const described = new Map((await pool.file<DescribedColumn>("export_columns", [view])).map((one) => [one.name, one]));
  const key: readonly string[] = datasets[wanted.what].key;
  const columns = (await columnsOf(pool, wanted)).map((name) => {
    const found = described.get(name);
    if (!found) throw new Error(`${view} has no column ${name}, which its export has`);
    const { type, words, description } = found;
    return { ...columnType(type), name, words, description, isKey: key.includes(name) };
  });
  const [view_] = await pool.query<{ description: string | null }>(
    sql`select obj_description(${view}::regclass, 'pg_class') as description`,
  );
  return { columns, description: view_!.description };
}

/** The schema of a file with these columns, from its root. */
export function parquetSchemaOf(columns: readonly ParquetColumn[]): SchemaElement[] {
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
function columnType(name: string): ColumnType {
  const type = types[name];
  if (!type) throw new Error(`no Parquet type is chosen for columns of type ${name}`);
  return type;
}

const dayMs = 86_400_000;
const same = (value: unknown) => value;

const text: ColumnType = {
  elements: [{ name: "", type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } }],
  toParquet: same,
  field: { type: "string" },
};

const types: Record<string, ColumnType> = {
  text,
  bool: { elements: [{ name: "", type: "BOOLEAN" }], toParquet: same, field: { type: "boolean" } },
  int2: integer(16),
  int4: integer(32),
  int8: integer(64),
  float8: { elements: [{ name: "", type: "DOUBLE" }], toParquet: same, field: { type: "number" } },
  // our numerics are percentages with few digits, which the pool reads as numbers
  numeric: { elements: [{ name: "", type: "DOUBLE" }], toParquet: same, field: { type: "number" } },
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
    toParquet: same,
    field: { type: "datetime" },
  },
  // the statement yields days as text: a Date would be midnight in the time zone of this process
  date: {
    elements: [{ name: "", type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } }],
    toParquet: (day) => Date.parse(`${day as string}T00:00:00Z`) / dayMs,
    field: { type: "date" },
  },
  jsonb: {
    elements: [{ name: "", type: "BYTE_ARRAY", converted_type: "JSON", logical_type: { type: "JSON" } }],
    toParquet: same,
    field: { type: "object" },
  },
  _text: {
    elements: [
      { name: "", converted_type: "LIST", logical_type: { type: "LIST" }, num_children: 1 },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      { ...text.elements[0]!, name: "element", repetition_type: "OPTIONAL" },
    ],
    toParquet: same,
    field: { type: "list", itemType: "string" },
  },
};

function integer(bits: 16 | 32 | 64): ColumnType {
  const type = bits === 64 ? "INT64" : "INT32";
  return {
    // no logical type: the library writes the width in a form that strict readers refuse
    elements: [{ name: "", type, ...(bits === 16 && { converted_type: "INT_16" }) }],
    toParquet: bits === 64 ? (value) => BigInt(value as number) : same,
    field: { type: "integer" },
  };
}
