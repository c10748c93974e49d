import type { Response } from "express";
import type { CellValue, ColumnDef } from "hucre/xlsx";
import { mebibyte } from "../../../shared/config/byte-units.js";
import type { Pool } from "../../../shared/database/pool.js";
import { csvText, type DecimalMark } from "../../../shared/text/spreadsheet-safe-csv.js";
import { answerBody, dataCache } from "../api/answer.js";
import { type Body, makeBody } from "../api/body.js";
import { choice, parameterReader, type Parameters, type Values } from "../api/parameters.js";
import type { BadParameter } from "../api/problem.js";
import { bytes, exampleOf, generatedAt, instant, integer, type Schema, text } from "../api/shapes.js";
import { type DatabaseClock, makeSnapshots, type Snapshot, type WhileBusy } from "./snapshot.js";

/** A table and the statement behind it. */
export interface Table {
  /** Name of a statement with the columns of the schema; instants must be ISO 8601 text. */
  file: string;
  /** Values of the statement; the methodology page's address is appended as the last one. */
  values: readonly unknown[];
  schema: TableSchema;
  /** Part of the file name: `okx-days-90`. Tables with different parameters should have different names. */
  name: string;
  /** Thrown when there is no row; if absent, the table is its header alone. */
  empty?: () => Error;
  /** As of a snapshot; default: 0. */
  holdMs?: number;
}

export type AnswerTable = (response: Response, form: TableForm, table: Table) => Promise<void>;

export interface TableOptions {
  pool: Pick<Pool, "file">;
  siteUrl: string;
  clock: DatabaseClock;
  whileBusy: WhileBusy;
}

/**
 * Makes the function with which every route answers as a table. The statement of a table runs once per tick, like those
 * of JSON, and all its forms are made from the same rows.
 */
export function tableAnswerer({ pool, siteUrl, clock, whileBusy }: TableOptions): AnswerTable {
  const methodologyUrl = `${siteUrl}/methodology`;
  const tables = makeSnapshots({ file: asOneRow }, { bodies: 100, bytes: 16 * mebibyte }, clock, whileBusy);
  /** The forms of each table. They are collected with it, and are smaller. */
  const made = new WeakMap<Snapshot, Map<string, Promise<Body>>>();

  /** The rows of a statement as the row of a snapshot. */
  async function asOneRow<SnapshotRow>(file: string, values?: readonly unknown[]) {
    const rows = await pool.file<Row>(file, values);
    // every row has it; a table without rows shows the newest tick
    const at = rows[0]?.["generatedAt"];
    const generated_at = typeof at === "string" ? new Date(at) : (await clock.read()).generated_at;
    return [{ generated_at, body: JSON.stringify(rows) } as SnapshotRow];
  }

  function formOf(snapshot: Snapshot, form: TableForm, schema: TableSchema): Promise<Body> {
    const forms = made.get(snapshot) ?? new Map<string, Promise<Body>>();
    made.set(snapshot, forms);
    const key = JSON.stringify(form);
    let body = forms.get(key);
    if (!body) {
      body = makeForm(JSON.parse(snapshot.body.plain.toString()) as Row[], form, schema);
      forms.set(key, body);
      body.catch(() => forms.delete(key));
    }
    return body;
  }

  return async (response, form, { file, values, schema, name, empty, holdMs }) => {
    const snapshot = (await tables(file, values, [...values, methodologyUrl], holdMs))!;
    if (empty && snapshot.body.plain.length === "[]".length) throw empty();
    const day = snapshot.generatedAt.toISOString().slice(0, 10);
    response.setHeader("Content-Disposition", attachmentHeader(name, day, form.format));
    const parameters = form.format === "csv" ? "; charset=utf-8; header=present" : "";
    await answerBody(response, await formOf(snapshot, form, schema), tableTypes[form.format] + parameters, dataCache);
  };
}

async function makeForm(rows: Row[], { format, decimal }: TableForm, schema: TableSchema): Promise<Body> {
  if (format === "xlsx") return makeBody(await workbook(rows, schema));
  const columns = Object.keys(schema.columns);
  return makeBody(csvText([columns, ...rows.map((row) => columns.map((name) => row[name]))], decimal));
}

/** Media types. */
export const tableTypes = {
  csv: "text/csv",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
};

/** @param day the UTC day of the instant that the table shows */
export function attachmentHeader(name: string, day: string, format: TableFormat): string {
  return `attachment; filename="venuewatch-${name}-${day}.${format}"`;
}

/** Columns of every row that describe the window. */
export const ofTheWindow: TableSchema["columns"] = {
  generatedAt: {
    ...generatedAt,
    description: "The instant that the table shows.",
  },
  windowDays: integer("Length of the window in days.", 90, 1),
  windowFrom: instant("Start of the window.", "2025-11-03T00:00:00.000Z"),
  windowTo: instant("End of the window: generatedAt."),
  windowMeasuredDays: integer("UTC days of the window with a measured minute of the row's venue.", 90),
  windowMeasuredMinutes: integer("Measured minutes in them.", 128_880),
  methodologyUrl: text("The page that defines each number.", "https://api.example.org/methodology"),
};

export function propertiesOf(schema: Schema, names: string[]): TableSchema["columns"] {
  return Object.fromEntries(names.map((name) => [name, schema.properties![name] as Schema]));
}

/** The description of a table. */
export interface TableSchema {
  /** Name of the sheet in a workbook, and what the rows are. At most 31 characters. */
  sheet: "days" | "venues" | "incidents" | "maintenance" | "transfers" | "samples";
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

// Reads from a query in which form it asks for a resource: as JSON, or as a table.

/** The formats of tables; each is the ending of an address, too. */
export const tableFormats = ["csv", "xlsx"] as const;

export type TableFormat = (typeof tableFormats)[number];

interface TableForm {
  format: TableFormat;
  decimal: DecimalMark;
}

export const decimalParameters = {
  decimal: choice(
    "The decimal mark. With comma, as spreadsheets in German, French and many other languages expect it, semicolons separate the fields.",
    ["point", "comma"],
    "point",
  ),
};

/** Of addresses without an ending. */
export const formatParameters = {
  format: choice(
    "The same as JSON or as a table. Tables have addresses of their own, too, for generated clients: here they read only JSON.",
    ["json", ...tableFormats],
    "json",
  ),
  ...decimalParameters,
};

export type Form = Values<typeof formatParameters>;

/**
 * Makes the query reader of a resource that exists as JSON and as a table.
 *
 * @param ending of the address, which says the format; null: the parameter `format` says it
 */
export function formReader<Set extends Parameters>(
  parameters: Set,
  ending: TableFormat | null,
  check?: (values: Values<Set>) => BadParameter[],
): (query: URLSearchParams) => Values<Set> & Form {
  const ofForm = ending === null ? formatParameters : decimalParameters;
  const usual: Form = { format: ending ?? "json", decimal: "point" };
  const read = parameterReader({ ...parameters, ...ofForm }, (values) => [
    ...(check?.(values) ?? []),
    ...faultsOf({ ...usual, ...values }),
  ]);
  return (query) => ({ ...usual, ...read(query) });
}

function faultsOf({ format, decimal }: Form): BadParameter[] {
  if (decimal === "point" || format === "csv") return [];
  return [{ parameter: "decimal", message: `expected comma only together with format=csv; got format=${format}` }];
}

// Tables as XLSX workbooks of one sheet.

/** Values by column. */
type Row = Readonly<Record<string, unknown>>;

/** The bytes of a workbook. */
export async function workbook(rows: readonly Row[], { sheet, columns }: TableSchema): Promise<Buffer> {
  // on first use: most web programs never write one, and loading the library takes 12 MB
  const { writeXlsxStream } = await import("hucre/xlsx");
  const kinds = Object.entries(columns).map(([header, schema]) => ({ header, ...cellKindOf(schema) }));
  const cells = rows.map((row) => kinds.map(({ header, numFmt }) => cellOf(row[header], numFmt !== undefined)));
  const bytes = writeXlsxStream(cells, {
    name: sheet,
    columns: kinds.map((kind) => ({ ...kind, width: widthOf(kind.header, kind) })),
    // the header stays in sight
    freezePane: { rows: 1 },
  });
  return Buffer.from(await new Response(bytes).arrayBuffer());
}

/** How times are shown: the same in every language. Spreadsheets know no time zones; the values are in UTC. */
type Kind = Pick<ColumnDef, "numFmt">;

const cellFormats: Record<string, Kind> = {
  "date-time": { numFmt: "yyyy-mm-dd hh:mm:ss.000" },
  date: { numFmt: "yyyy-mm-dd" },
};

function cellKindOf({ anyOf, format }: Schema): Kind {
  return cellFormats[(anyOf?.[0] as Schema | undefined)?.format ?? format ?? ""] ?? {};
}

/** In characters. A column that is too narrow shows a date as `####`. */
function widthOf(header: string, { numFmt = "" }: Kind): number {
  return Math.max(header.length, numFmt.length) + 2;
}

/** Texts are never formulas in a workbook, and never numbers. */
function cellOf(value: unknown, isTime: boolean): CellValue {
  if (typeof value !== "string") return value as number | boolean | null;
  const at = isTime ? new Date(value) : null;
  // workbooks have no earlier dates, so an earlier one stays text
  return at !== null && +at >= Date.UTC(1900, 0, 1) ? at : cellText(value);
}

/** The most UTF-16 units that a cell may have; Excel considers a workbook with a longer cell broken. */
const mostText = 32_767;

/** What XML 1.0 forbids, even as an escape. */
// eslint-disable-next-line no-control-regex
const forbiddenCharacters = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

function cellText(text: string): string {
  const clean = text.replace(forbiddenCharacters, "").replace(/\r\n?/g, "\n");
  const whole = clean.length <= mostText ? clean : `${clean.slice(0, mostText - 1).replace(/[\ud800-\udbff]$/, "")}…`;
  // workbooks read _x0041_ as an escaped A
  return whole.replace(/_(?=x[\da-f]{4}_)/gi, "_x005F_");
}
