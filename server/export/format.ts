import { csvText } from "../../shared/text/spreadsheet-safe-csv.js";

/** How records are written, and how a resumed export reads the last one. Each ends with a line feed. */
export interface ExportFormat {
  /** The text before the first record. */
  head: (columns: readonly string[]) => string;
  text: (columns: readonly string[], rows: readonly unknown[][]) => string;
  /** Whether a value in double quotes may contain line feeds. */
  quotes: boolean;
  /**
   * The values of one record by column.
   *
   * @throws Error if it is not a record with these columns
   */
  values: (columns: readonly string[], record: string) => Record<string, unknown>;
}

export const exportFormats = {
  csv: {
    head: (columns) => csvText([columns]),
    text: (_, rows) => csvText(rows),
    quotes: true,
    values(columns, record) {
      const fields = [...record.matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r\n)/g)];
      if (fields.length !== columns.length) throw new Error("the record has other columns");
      return Object.fromEntries(fields.map(([, field = ""], i) => [columns[i]!, unquoted(field)]));
    },
  },
  ndjson: {
    head: () => "",
    text: (columns, rows) => rows.map((row) => jsonLine(columns, row)).join(""),
    quotes: false,
    values(columns, record) {
      const values = JSON.parse(record) as Record<string, unknown>;
      if (Object.keys(values).join() !== columns.join()) throw new Error("the record has other columns");
      return values;
    },
  },
} as const satisfies Record<string, ExportFormat>;

/** The formats of one file of text. */
export type ExportFormatName = keyof typeof exportFormats;

/** Parquet is a folder of files, see `parquet/`. */
export const outputFormats = [...(Object.keys(exportFormats) as ExportFormatName[]), "parquet"] as const;

export type OutputFormatName = (typeof outputFormats)[number];

/** Instants become ISO 8601 with milliseconds, in UTC; unknown values are null. */
function jsonLine(columns: readonly string[], row: unknown[]): string {
  const record = Object.fromEntries(columns.map((name, i) => [name, row[i]]));
  return `${JSON.stringify(record)}\n`;
}

function unquoted(field: string): string {
  return field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field;
}
