import { csvText } from "../../../shared/text/spreadsheet-safe-csv.js";
import { exampleOf } from "./example.js";
import { bytes, type Schema } from "./shapes.js";

/** The description of a table. */
export interface TableSchema {
  /** Name of the sheet in a workbook, and what the rows are. At most 31 characters. */
  sheet: "days" | "venues" | "incidents";
  /** What a row is: `One row per day`. */
  rows: string;
  /** By name and in order. A field has the JSON value; null becomes empty. */
  columns: Record<string, Schema>;
}

/** A table as CSV. The columns are text: OpenAPI has no schema for tables, so this is the only documentation. */
export function csvSchema({ rows, columns }: TableSchema): Schema {
  const lines = Object.entries(columns).map(
    ([name, schema]) => `| ${name} | ${kindOf(schema)} | ${inTables(schema.description ?? "")} |`,
  );
  const description = [
    `${rows}. RFC 4180 in UTF-8, with a header. A text that starts like a spreadsheet formula, such as =1+1, gets a leading apostrophe, so that spreadsheets show it as text.\n`,
    "| Column | Kind | Meaning |",
    "|---|---|---|",
    ...lines,
  ].join("\n");
  return bytes(description, csvText([Object.keys(columns), Object.values(columns).map(exampleOf)]));
}

/** A table as a workbook. */
export function workbookSchema({ sheet }: TableSchema, csvPath: string): Schema {
  const description = `A workbook with one sheet, \`${sheet}\`: the rows and columns of \`${csvPath}\`. Numbers are numbers, instants and days are dates, in UTC, and an unknown value is an empty cell. Texts are never formulas.`;
  return bytes(description, "PK…");
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
