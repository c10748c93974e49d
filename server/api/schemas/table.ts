import { exampleOf } from "./example.js";
import type { Schema } from "./shapes.js";

/** The description of a CSV table. */
export interface TableSchema {
  /** What a row is: `One row per day`. */
  rows: string;
  /** By name and in order. A field has the JSON value; null becomes empty. */
  columns: Record<string, Schema>;
}

/** The columns as text: OpenAPI has no schema for tables, so this is the only documentation. */
export function tableText({ rows, columns }: TableSchema): string {
  const lines = Object.entries(columns).map(
    ([name, schema]) => `| ${name} | ${kindOf(schema)} | ${inTables(schema.description ?? "")} |`,
  );
  return [
    `${rows}. RFC 4180 in UTF-8, with a header. A text that starts like a spreadsheet formula, such as =1+1, gets a leading apostrophe, so that spreadsheets show it as text.\n`,
    "| Column | Kind | Meaning |",
    "|---|---|---|",
    ...lines,
  ].join("\n");
}

/** The header and one row, as values. */
export function tableExample({ columns }: TableSchema): unknown[][] {
  return [Object.keys(columns), Object.values(columns).map(exampleOf)];
}

function kindOf(schema: Schema): string {
  const [form] = (schema.anyOf ?? [schema]) as Schema[];
  return schema.anyOf ? `${bareKind(form!)}, or empty` : bareKind(form!);
}

function bareKind({ type, format, enum: words }: Schema): string {
  if (words) return words.join(" or ");
  if (format === "date-time") return "instant";
  if (format === "date") return "day";
  if (type === "boolean") return "true or false";
  return type === "string" ? "text" : String(type);
}

/** The descriptions are those of JSON, but null becomes an empty field. */
function inTables(description: string): string {
  return description.replace(/\bnull\b/g, "empty").replaceAll("|", "\\|");
}
