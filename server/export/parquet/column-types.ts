import type { SchemaElement } from "hyparquet-writer";

/** How a type of the database is written, read back, and described. */
export interface ColumnType {
  /** The elements of a Parquet schema, without names: the column's own first, then those inside of it. */
  elements: readonly SchemaElement[];
  /** The value that the writer expects, from one that `pg` read and that is not null. */
  toParquet: (value: unknown) => unknown;
  /** The value as `pg` reads it, from one that a reader of the file returned. Only for the types of keys. */
  fromParquet?: (value: unknown) => unknown;
  /** Its type in a Frictionless Table Schema. */
  field: Record<string, unknown>;
}

/**
 * By the name of the type in PostgreSQL. The older `converted_type` is written beside the logical type, because readers
 * that predate logical types know only that.
 *
 * @throws Error for a type that no exported view has had so far
 */
export function columnType(name: string): ColumnType {
  const type = types[name];
  if (!type) throw new Error(`no Parquet type is chosen for columns of type ${name}`);
  return type;
}

const dayMs = 86_400_000;
const same = (value: unknown) => value;

const text: ColumnType = {
  elements: [{ name: "", type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } }],
  toParquet: same,
  fromParquet: same,
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
    fromParquet: same,
    field: { type: "datetime" },
  },
  // the statement yields days as text: a Date would be midnight in the time zone of this process
  date: {
    elements: [{ name: "", type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } }],
    toParquet: (day) => Date.parse(`${day as string}T00:00:00Z`) / dayMs,
    fromParquet: (day) => (day as Date).toISOString().slice(0, 10),
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
    fromParquet: Number,
    field: { type: "integer" },
  };
}
