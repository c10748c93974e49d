/** Prints a command's result, as text for people or as JSON for programs. */
export function print(asJson: unknown, value: unknown, text: string): void {
  process.stdout.write(asJson === true ? `${JSON.stringify(value, null, 2)}\n` : text);
}

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
