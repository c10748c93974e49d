/** Columns of text, padded to equal widths. */
export function plainTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => [...row[at]!].length)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell + " ".repeat(widths[at]! - [...cell].length))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}
