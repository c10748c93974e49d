import { exampleOf } from "./example.js";
import type { Schema } from "./shapes.js";

/** A table for spreadsheets, as it is described. */
export interface TableSchema {
  /** What a row is: `One row a day`. */
  rows: string;
  /** By name and in order. A field is what JSON has; it is empty where that is null. */
  columns: Record<string, Schema>;
}

/** Its columns in words. There is no schema of a table in OpenAPI, so that this is all that a stranger has. */
export function tableText({ rows, columns }: TableSchema): string {
  const lines = Object.entries(columns).map(
    ([name, schema]) => `| ${name} | ${kindOf(schema)} | ${inTables(schema.description ?? "")} |`,
  );
  return [
    `${rows}. RFC 4180 in UTF-8, with a header. A text that a spreadsheet would run as a formula has an apostrophe in front.\n`,
    "| Column | Kind | What it says |",
    "|---|---|---|",
    ...lines,
  ].join("\n");
}

/** The header and a row, as values. */
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

/** Descriptions are those of JSON. What it has as null is an empty field. */
function inTables(description: string): string {
  return description.replace(/\bnull\b/g, "empty").replaceAll("|", "\\|");
}
