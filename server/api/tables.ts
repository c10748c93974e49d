import type { Response } from "express";
import { csvText } from "../../shared/text/spreadsheet-safe-csv.js";
import type { Pool } from "../../shared/database/pool.js";
import { answerBody, dataCache } from "./answer.js";
import { type Body, makeBody } from "./body.js";
import type { DatabaseClock } from "./clock.js";
import type { TableSchema } from "./schemas/table.js";
import { makeSnapshots, type Snapshot, type WhileBusy } from "./snapshot.js";
import type { TableForm, TableFormat } from "./table-form.js";
import { type Row, workbook } from "./workbook.js";

/** A table and the statement behind it. */
export interface Table {
  /** File in `sql/queries` with the columns of the schema; instants must be ISO 8601 text. */
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

const mebibyte = 2 ** 20;

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
    response.setHeader("Content-Disposition", attachment(name, day, form.format));
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
export function attachment(name: string, day: string, format: TableFormat): string {
  return `attachment; filename="venuewatch-${name}-${day}.${format}"`;
}
