/**
 * Secrets in files, as container engines and service managers provide them: visible neither in the environment nor in
 * arguments.
 */

import { readFileSync, statSync } from "node:fs";

import { WrongValue } from "./setting-values.js";

/** Far longer than any secret; a wrong file is not read whole. */
const maxBytes = 4_096;

/**
 * The only line of a file, without its line end.
 *
 * @throws WrongValue, which never shows the content
 */
export function secretIn(path: string): string {
  const text = textOf(path);
  const line = text.replace(/\r?\n$/, "");
  if (line === "") throw new WrongValue(`${oneLine}, but it is empty`);
  if (/\p{Cc}/u.test(line)) throw new WrongValue(`${oneLine}, but it has more than that`);
  return line;
}

const oneLine = "the path of a file with one line of text";

function textOf(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > maxBytes) throw new WrongValue(`${oneLine}, but it has ${size} bytes`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof WrongValue) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new WrongValue(`${oneLine}, but it cannot be read (${code})`);
  }
}
