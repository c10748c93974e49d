import { type Options, stringify } from "csv-stringify/sync";

/** Records as lines of CSV, each with its end; see `csv`. */
export function csvText(records: readonly (readonly unknown[])[]): string {
  return stringify([...records], csv);
}

/**
 * RFC 4180. A text that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay numbers.
 * What is not known is an empty field, instants are ISO 8601 in UTC, and what has parts is JSON.
 */
const csv: Options = {
  record_delimiter: "\r\n",
  escape_formulas: true,
  // it sees CRLF alone by itself, but half of one ends a line to many readers, too
  quoted_match: /[\r\n]/,
  cast: { boolean: String, date: (at) => at.toISOString() },
};
