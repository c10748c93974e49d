/** Files of JSON that users write. */

import { readFile, stat } from "node:fs/promises";
import { type JsonFault, jsonFaults } from "./json-fault.js";
import { masked } from "../text/masked-text.js";
import { UserError } from "../process/user-error.js";

/** Room for thousands of venues; beyond it the path is a mistake. */
const mostBytes = 4 * 1024 * 1024;

/**
 * @param name what the file is, at the beginning of a sentence: `The registry`
 * @throws UserError that names the file and what kept it from being read, a name that an object has twice included
 */
export async function readJsonFile(path: string, name: string): Promise<unknown> {
  const { value, repeated } = await readAmbiguousJson(path, name);
  if (repeated.length === 0) return value;
  throw new UserError(`${name} ${masked(path)} is ambiguous: ${repeated.join("\n")}`);
}

/**
 * The same, for a file of which more is checked: of names that an object has twice the last one counts in `value`.
 *
 * @returns a sentence for each such name in `repeated`, for at most a hundred
 * @throws UserError that names the file and what kept it from being read
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
    if (file.size > mostBytes) throw new Error(`it holds ${file.size} bytes, at most ${mostBytes} were expected`);
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
