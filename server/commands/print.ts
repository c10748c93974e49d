/** Prints a command's result, as text for people or as JSON for programs. */
export function print(asJson: unknown, value: unknown, text: string): void {
  process.stdout.write(asJson === true ? `${JSON.stringify(value, null, 2)}\n` : text);
}
