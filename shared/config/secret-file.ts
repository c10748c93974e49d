/**
 * Secrets in files, as container engines and service managers hand them over: not seen in the environment, nor among
 * arguments.
 */

import { readFileSync, statSync } from "node:fs";

import { WrongValue } from "./setting-values.js";

/** Far longer than any secret; a file that is another one by mistake is not read whole. */
const mostBytes = 4_096;

/**
 * The one line of a file, without its end.
 *
 * @throws WrongValue, which never shows what is in the file
 */
export function secretIn(path: string): string {
  const text = textOf(path);
  const line = text.replace(/\r?\n$/, "");
  if (line === "") throw new WrongValue(`${oneLine}, and it is empty`);
  if (/\p{Cc}/u.test(line)) throw new WrongValue(`${oneLine}, and it has more than that`);
  return line;
}

const oneLine = "the path of a file with one line of text";

function textOf(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > mostBytes) throw new WrongValue(`${oneLine}, and it has ${size} bytes`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof WrongValue) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new WrongValue(`${oneLine}, and reading it failed (${code})`);
  }
}
