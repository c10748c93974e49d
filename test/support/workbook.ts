import { type CellValue, readXlsx } from "hucre/xlsx";
import { type TableSchema, workbook } from "../../server/web/board/tables.js";

/** The rows of a workbook's only sheet, by the names in its first row. @throws Error where it is another thing */
export async function workbookRows(bytes: Uint8Array): Promise<Record<string, CellValue>[]> {
  const { sheets } = await readXlsx(bytes);
  if (sheets.length !== 1) throw new Error(`expected one sheet, got ${sheets.length}`);
  const [header, ...rows] = sheets[0]!.rows;
  if (!header) throw new Error("expected a header, got an empty sheet");
  return rows.map((row) => Object.fromEntries(header.map((name, at) => [String(name), row[at] ?? null])));
}

/** The workbook of some rows, with the columns of a table that the first row has. */
export function workbookOf(schema: TableSchema, rows: Record<string, unknown>[]): Promise<Buffer> {
  const columns = Object.fromEntries(Object.keys(rows[0]!).map((name) => [name, schema.columns[name]!]));
  return workbook(rows, { ...schema, columns });
}
