/** JSON files written by users. */

import { readFile, stat } from "node:fs/promises";
import { type JsonFault, jsonFaults } from "./json-fault.js";
import { masked } from "../text/masked-text.js";
import { UserError } from "../process/user-error.js";

/** Enough for thousands of venues; a larger file is probably the wrong one. */
const maxBytes = 4 * 1024 * 1024;

/**
 * @param name what the file is, to begin a sentence with: `The registry`
 * @throws UserError with the file and why it cannot be read, which includes an object that has a property twice
 */
export async function readJsonFile(path: string, name: string): Promise<unknown> {
  const { value, repeated } = await readAmbiguousJson(path, name);
  if (repeated.length === 0) return value;
  throw new UserError(`${name} ${masked(path)} is ambiguous: ${repeated.join("\n")}`);
}

/**
 * The same for a file that the caller checks further. In `value` the last of two equal properties counts.
 *
 * @returns in `repeated` a sentence for each repeated property, at most a hundred
 * @throws UserError with the file and why it cannot be read
 */
export async function readAmbiguousJson(path: string, name: string): Promise<{ value: unknown; repeated: string[] }> {
  const text = await textOf(path, name);
  const faults = jsonFaults(text);
  const broken = faults.find(({ ambiguous }) => !ambiguous);
  if (broken) throw new UserError(`${name} ${masked(path)} is not JSON: ${sentence(broken)}`);
  return { value: JSON.parse(text), repeated: faults.map(sentence) };
}

function sentence({ line, column, expected, found }: JsonFault): string {
  return `line ${line}, column ${column}: expected ${expected}, found ${found}`;
}

async function textOf(path: string, name: string): Promise<string> {
  try {
    const file = await stat(path);
    if (!file.isFile()) throw new Error("it is not a file");
    if (file.size > maxBytes) throw new Error(`expected at most ${maxBytes} bytes, got ${file.size}`);
    const bytes = await readFile(path);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const reason = reasonOf(error as NodeJS.ErrnoException);
    throw new UserError(`${name} ${masked(path)} cannot be read: ${reason}`, {
      cause: error,
    });
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "this user may not read it";
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return "it is not UTF-8";
  return message;
}
