import { pipeline } from "node:stream/promises";
import type { Response } from "express";
import { csvText } from "../../shared/text/csv-text.js";
import type { Pool } from "../../shared/database/pool.js";
import type { RowStream } from "../../shared/database/row-stream.js";
import { dataCache } from "./answer.js";

/** A table for spreadsheets, and where it comes from. */
export interface CsvTable {
  /** Of `sql/queries`. Its columns are the table's, by name and in order; instants come as ISO 8601 text. */
  file: string;
  /** Of the statement; the address of the methodology page is added as the last one. */
  values: readonly unknown[];
  /**
   * What it shows, as part of a file's name: `okx-days-90`. Tables that differ in their parameters should differ in
   * this.
   */
  name: string;
  /** Thrown where there is no row; absent, such a table is its header alone. */
  empty?: () => Error;
}

export type AnswerCsv = (response: Response, table: CsvTable) => Promise<void>;

/** Makes the function by which every route answers `format=csv`. */
export function csvAnswerer(options: { pool: Pick<Pool, "rows">; siteUrl: string }): AnswerCsv {
  const methodologyUrl = `${options.siteUrl}/methodology`;
  return async (response, { file, values, name, empty }) => {
    const rows = await options.pool.rows(file, [...values, methodologyUrl]);
    if (empty && rows.first.length === 0) throw empty();
    await sendCsv(response, rows, name);
  };
}

/** Writes rows as fast as the client takes them; the rows' own limit is how long a slow one may hold the database. */
export async function sendCsv(response: Response, rows: RowStream, name: string): Promise<void> {
  response.setHeader("Cache-Control", dataCache);
  response.setHeader("Content-Type", "text/csv; charset=utf-8; header=present");
  response.setHeader("Content-Disposition", attachment(name, instantOf(rows).slice(0, 10)));
  try {
    if (response.req.method === "HEAD") response.end();
    else await pipeline(csvOf(rows), response);
  } catch (error) {
    // who has left needs no answer, and it is no fault of ours
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  } finally {
    rows.close();
  }
}

/** @param day of the instant that the table shows */
export function attachment(name: string, day: string): string {
  return `attachment; filename="venuewatch-${name}-${day}.csv"`;
}

/** Every row says it; a table without rows shows what there is now. */
function instantOf({ columns, first }: RowStream): string {
  const shown = first[0]?.[columns.indexOf("generatedAt")];
  return typeof shown === "string" ? shown : new Date().toISOString();
}

async function* csvOf(rows: RowStream): AsyncGenerator<string> {
  yield csvText([rows.columns]);
  for (let batch = await rows.next(); batch; batch = await rows.next()) yield csvText(batch);
}
