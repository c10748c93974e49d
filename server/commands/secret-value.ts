import { UserError } from "../../shared/process/user-error.js";

/** Longer than any accepted URL or key. */
const maxCharacters = 10_000;

/**
 * The value of a secret option. `-` reads it from the first line of standard input, since all users of the machine can
 * see the arguments of its processes.
 */
export async function secretValue(option: string, value: string): Promise<string> {
  if (value !== "-") return value;
  if (process.stdin.isTTY) process.stderr.write(`${option} (visible while you type), then Enter: `);
  const line = await firstLine();
  if (line === "") throw new UserError(`${option} -: expected a line of standard input, got none`);
  return line;
}

async function firstLine(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += String(chunk);
    if (text.includes("\n") || text.length > maxCharacters) break;
  }
  return text.split("\n", 1)[0]!.trim();
}
