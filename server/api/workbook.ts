/** Tables as XLSX workbooks of one sheet. */
import type { CellValue, ColumnDef } from "hucre/xlsx";
import type { Schema } from "./schemas/shapes.js";
import type { TableSchema } from "./schemas/table.js";

/** Values by column. */
export type Row = Readonly<Record<string, unknown>>;

/** The bytes of a workbook. */
export async function workbook(rows: readonly Row[], { sheet, columns }: TableSchema): Promise<Buffer> {
  // on first use: most web programs never write one, and loading the library takes 12 MB
  const { writeXlsxStream } = await import("hucre/xlsx");
  const kinds = Object.entries(columns).map(([header, schema]) => ({ header, ...kindOf(schema) }));
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

const formats: Record<string, Kind> = {
  "date-time": { numFmt: "yyyy-mm-dd hh:mm:ss.000" },
  date: { numFmt: "yyyy-mm-dd" },
};

function kindOf({ anyOf, format }: Schema): Kind {
  return formats[(anyOf?.[0] as Schema | undefined)?.format ?? format ?? ""] ?? {};
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
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

function cellText(text: string): string {
  const clean = text.replace(forbidden, "").replace(/\r\n?/g, "\n");
  const whole = clean.length <= mostText ? clean : `${clean.slice(0, mostText - 1).replace(/[\ud800-\udbff]$/, "")}…`;
  // workbooks read _x0041_ as an escaped A
  return whole.replace(/_(?=x[\da-f]{4}_)/gi, "_x005F_");
}
