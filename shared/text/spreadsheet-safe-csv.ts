import { type Options, stringify } from "csv-stringify/sync";

/** The mark between a number and its fraction. A comma cannot separate fields as well: semicolons then do. */
export type DecimalMark = "point" | "comma";

/** Records as CSV lines, each with its line end; see `csv`. */
export function csvText(records: readonly (readonly unknown[])[], decimal: DecimalMark = "point"): string {
  return stringify([...records], decimal === "comma" ? csvWithComma : csv);
}

/**
 * RFC 4180. A text that a spreadsheet would run as a formula gets a leading apostrophe; numbers stay numbers. Unknown
 * values are empty fields, instants are ISO 8601 in UTC, and objects and lists are JSON.
 */
const csv = {
  record_delimiter: "\r\n",
  escape_formulas: true,
  // the library quotes only CRLF, but many readers also end a line at a CR or LF alone
  quoted_match: /[\r\n]/,
  cast: { boolean: String, date: (at) => at.toISOString() },
} satisfies Options;

const csvWithComma: Options = {
  ...csv,
  delimiter: ";",
  cast: { ...csv.cast, number: (value) => String(value).replace(".", ",") },
};
