import { pipeline } from "node:stream/promises";
import type { Response } from "express";
import { csvText, type DecimalMark } from "../../shared/text/spreadsheet-safe-csv.js";
import type { Pool } from "../../shared/database/pool.js";
import type { RowStream } from "../../shared/database/row-stream.js";
import { dataCache } from "./answer.js";
import type { TableSchema } from "./schemas/table.js";
import type { TableForm, TableFormat } from "./table-form.js";
import { workbook } from "./workbook.js";

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
}

export type AnswerTable = (response: Response, form: TableForm, table: Table) => Promise<void>;

/** Makes the function with which every route answers as a table. */
export function tableAnswerer(options: { pool: Pick<Pool, "rows">; siteUrl: string }): AnswerTable {
  const methodologyUrl = `${options.siteUrl}/methodology`;
  return async (response, form, { file, values, schema, name, empty }) => {
    const rows = await options.pool.rows(file, [...values, methodologyUrl]);
    if (empty && rows.first.length === 0) throw empty();
    await sendTable(response, form, { rows, schema, name });
  };
}

/** Media types. */
export const tableTypes = {
  csv: "text/csv",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
};

/**
 * Writes rows as fast as the client reads. The row stream's own limit bounds how long a slow client holds the database.
 */
export async function sendTable(
  response: Response,
  { format, decimal }: TableForm,
  { rows, schema, name }: Pick<Table, "schema" | "name"> & { rows: RowStream },
): Promise<void> {
  response.setHeader("Cache-Control", dataCache);
  response.setHeader(
    "Content-Type",
    `${tableTypes[format]}${format === "csv" ? "; charset=utf-8; header=present" : ""}`,
  );
  response.setHeader("Content-Disposition", attachment(name, instantOf(rows).slice(0, 10), format));
  try {
    if (response.req.method === "HEAD") response.end();
    else await pipeline(format === "csv" ? csvOf(rows, decimal) : await workbook(rows, schema), response);
  } catch (error) {
    // the client disconnected, which is not an error
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  } finally {
    rows.close();
  }
}

/** @param day the UTC day of the instant that the table shows */
export function attachment(name: string, day: string, format: TableFormat): string {
  return `attachment; filename="venuewatch-${name}-${day}.${format}"`;
}

/** Every row has it; a table without rows shows the present. */
function instantOf({ columns, first }: RowStream): string {
  const shown = first[0]?.[columns.indexOf("generatedAt")];
  return typeof shown === "string" ? shown : new Date().toISOString();
}

async function* csvOf(rows: RowStream, decimal: DecimalMark): AsyncGenerator<string> {
  yield csvText([rows.columns], decimal);
  for (let batch = await rows.next(); batch; batch = await rows.next()) yield csvText(batch, decimal);
}
