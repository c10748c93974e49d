import { UserError } from "../../shared/process/user-error.js";

/** Longer than any URL or key that is taken. */
const mostCharacters = 10_000;

/**
 * The value of an option that is secret: `-` stands for the first line of standard input, since every user of the
 * machine sees the arguments of its programs.
 */
export async function secretValue(option: string, value: string): Promise<string> {
  if (value !== "-") return value;
  if (process.stdin.isTTY) process.stderr.write(`${option}, and Enter (it is shown): `);
  const line = await firstLine();
  if (line === "") throw new UserError(`${option} -: expected a line of standard input, got none`);
  return line;
}

async function firstLine(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += String(chunk);
    if (text.includes("\n") || text.length > mostCharacters) break;
  }
  return text.split("\n", 1)[0]!.trim();
}
