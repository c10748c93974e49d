/** Files of JSON that users write. */

import { readFile, stat } from "node:fs/promises";
import { jsonFault } from "./json-fault.js";
import { UserError } from "./user-error.js";

/** Room for thousands of venues; beyond it the path is a mistake. */
const mostBytes = 4 * 1024 * 1024;

/**
 * @param name what the file is, at the beginning of a sentence: `The registry`
 * @throws UserError that names the file and what kept it from being read
 */
export async function readJsonFile(
  path: string,
  name: string,
): Promise<unknown> {
  const text = await textOf(path, name);
  const fault = jsonFault(text);
  if (fault === null) return JSON.parse(text);
  const { ambiguous, line, column, expected, found } = fault;
  throw new UserError(
    `${name} ${path} is ${ambiguous ? "ambiguous" : "not JSON"}: line ${line}, column ${column}: expected ${expected}, found ${found}`,
  );
}

async function textOf(path: string, name: string): Promise<string> {
  try {
    const file = await stat(path);
    if (!file.isFile()) throw new Error("it is not a file");
    if (file.size > mostBytes)
      throw new Error(
        `it holds ${file.size} bytes, at most ${mostBytes} were expected`,
      );
    const bytes = await readFile(path);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const reason = reasonOf(error as NodeJS.ErrnoException);
    throw new UserError(`${name} ${path} cannot be read: ${reason}`, {
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
