import { pipeline } from "node:stream/promises";
import type { Response } from "express";
import { csvText } from "../../shared/text/spreadsheet-safe-csv.js";
import type { Pool } from "../../shared/database/pool.js";
import type { RowStream } from "../../shared/database/row-stream.js";
import { dataCache } from "./answer.js";

/** A CSV table and the statement behind it. */
export interface CsvTable {
  /** File in `sql/queries`. Its columns become the table's, by name and in order; instants must be ISO 8601 text. */
  file: string;
  /** Values of the statement; the methodology page's address is appended as the last one. */
  values: readonly unknown[];
  /** Part of the file name: `okx-days-90`. Tables with different parameters should have different names. */
  name: string;
  /** Thrown when there is no row; if absent, the table is its header alone. */
  empty?: () => Error;
}

export type AnswerCsv = (response: Response, table: CsvTable) => Promise<void>;

/** Makes the function with which every route answers `format=csv`. */
export function csvAnswerer(options: { pool: Pick<Pool, "rows">; siteUrl: string }): AnswerCsv {
  const methodologyUrl = `${options.siteUrl}/methodology`;
  return async (response, { file, values, name, empty }) => {
    const rows = await options.pool.rows(file, [...values, methodologyUrl]);
    if (empty && rows.first.length === 0) throw empty();
    await sendCsv(response, rows, name);
  };
}

/**
 * Writes rows as fast as the client reads. The row stream's own limit bounds how long a slow client holds the database.
 */
export async function sendCsv(response: Response, rows: RowStream, name: string): Promise<void> {
  response.setHeader("Cache-Control", dataCache);
  response.setHeader("Content-Type", "text/csv; charset=utf-8; header=present");
  response.setHeader("Content-Disposition", attachment(name, instantOf(rows).slice(0, 10)));
  try {
    if (response.req.method === "HEAD") response.end();
    else await pipeline(csvOf(rows), response);
  } catch (error) {
    // the client disconnected, which is not an error
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  } finally {
    rows.close();
  }
}

/** @param day the UTC day of the instant that the table shows */
export function attachment(name: string, day: string): string {
  return `attachment; filename="venuewatch-${name}-${day}.csv"`;
}

/** Every row has it; a table without rows shows the present. */
function instantOf({ columns, first }: RowStream): string {
  const shown = first[0]?.[columns.indexOf("generatedAt")];
  return typeof shown === "string" ? shown : new Date().toISOString();
}

async function* csvOf(rows: RowStream): AsyncGenerator<string> {
  yield csvText([rows.columns]);
  for (let batch = await rows.next(); batch; batch = await rows.next()) yield csvText(batch);
}
