import { UserError } from "../../shared/process/user-error.js";
import { didYouMean } from "../../shared/text/nearest-word.js";

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

/** The value of an option that must be one of the given words. */
export function optionWord<Word extends string>(
  option: string,
  words: readonly Word[],
  value: string | undefined,
): Word {
  const word = words.find((word) => word === value);
  if (word !== undefined) return word;
  const got = value === undefined ? "nothing" : JSON.stringify(value);
  const hint = value === undefined ? "" : didYouMean(value, words);
  throw new UserError(`${option}: expected one of ${words.join(", ")}, got ${got}${hint}`);
}

/**
 * Parses the number of a channel or a delivery.
 *
 * @param noun whose `list` command shows the numbers
 */
export function numberWord(noun: "channel" | "delivery", word: string): number {
  if (/^[1-9]\d{0,8}$/.test(word)) return Number(word);
  // a long word may be a secret whose option was forgotten
  const shown = word.length > 20 ? "something else" : JSON.stringify(word);
  throw new UserError(`expected the number of a ${noun}, got ${shown}; venuewatch ${noun} list shows them`);
}

/** The value of an option that takes a list separated by commas. */
export function optionList(option: string, value: string): string[] {
  const items = value.split(",").map((item) => item.trim());
  if (!items.includes("")) return [...new Set(items)];
  throw new UserError(`${option}: expected one or more, separated by commas, got ${JSON.stringify(value)}`);
}
