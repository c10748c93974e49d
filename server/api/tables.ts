import { pipeline } from "node:stream/promises";
import type { Response } from "express";
import { csvText } from "../../shared/text/spreadsheet-safe-csv.js";
import type { Pool } from "../../shared/database/pool.js";
import { answerBody, dataCache } from "./answer.js";
import type { DatabaseClock } from "./clock.js";
import { makeDerived } from "./derived.js";
import type { TableSchema } from "./schemas/table.js";
import { makeSnapshots, type Snapshot, type WhileBusy } from "./snapshot.js";
import type { TableForm, TableFormat } from "./table-form.js";
import { type Rows, workbook } from "./workbook.js";

/** A table and the statement behind it. */
export interface Table {
  /** File in `sql/queries`. Its columns become the table's, by name and in order; instants must be ISO 8601 text. */
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
  pool: Pick<Pool, "file" | "rows">;
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
  const tables = makeSnapshots(
    { file: async <Row>(file: string, values?: readonly unknown[]) => [(await wholeTable(file, values)) as Row] },
    { bodies: 100, bytes: 16 * mebibyte },
    clock,
    whileBusy,
  );
  const derived = makeDerived(8 * mebibyte);

  /** The row of a snapshot. A page of the API is one batch. */
  async function wholeTable(file: string, values: readonly unknown[] = []) {
    const stream = await pool.rows(file, values);
    const rows: unknown[][] = [];
    for (let batch = await stream.next(); batch; batch = await stream.next()) rows.push(...batch);
    // every row has it; a table without rows shows the newest tick
    const at = rows[0]?.[stream.columns.indexOf("generatedAt")];
    const generated_at = typeof at === "string" ? new Date(at) : (await clock.read()).generated_at;
    return { generated_at, body: JSON.stringify({ columns: stream.columns, rows } satisfies Rows) };
  }

  return async (response, { format, decimal }, { file, values, schema, name, empty, holdMs }) => {
    const snapshot = (await tables(file, values, [...values, methodologyUrl], holdMs))!;
    const rowsOf = ({ body }: Snapshot) => JSON.parse(body.plain.toString()) as Rows;
    if (empty && rowsOf(snapshot).rows.length === 0) throw empty();
    response.setHeader(
      "Content-Disposition",
      attachment(name, snapshot.generatedAt.toISOString().slice(0, 10), format),
    );
    if (format === "xlsx") return sendWorkbook(response, rowsOf(snapshot), schema);
    const csv = derived(JSON.stringify([file, values, decimal]), [snapshot], () => {
      const { columns, rows } = rowsOf(snapshot);
      return csvText([columns, ...rows], decimal);
    });
    await answerBody(response, csv, `${tableTypes.csv}; charset=utf-8; header=present`, dataCache);
  };
}

/** Media types. */
export const tableTypes = {
  csv: "text/csv",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
};

/** Writes the workbook as fast as the client reads. */
async function sendWorkbook(response: Response, rows: Rows, schema: TableSchema): Promise<void> {
  response.setHeader("Cache-Control", dataCache);
  response.setHeader("Content-Type", tableTypes.xlsx);
  if (response.req.method === "HEAD") return void response.end();
  try {
    await pipeline(await workbook(rows, schema), response);
  } catch (error) {
    // the client disconnected, which is not an error
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  }
}

/** @param day the UTC day of the instant that the table shows */
export function attachment(name: string, day: string, format: TableFormat): string {
  return `attachment; filename="venuewatch-${name}-${day}.${format}"`;
}
