/** JSON files written by users. */
import { readFile, stat } from "node:fs/promises";
import { mebibyte } from "../config/byte-units.js";
import { UserError } from "../process/user-error.js";
import { masked } from "../text/secrets.js";

/** Enough for thousands of venues; a larger file is probably the wrong one. */
const maxBytes = 4 * mebibyte;

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
  if (broken) throw new UserError(`${name} ${masked(path)} is not JSON: ${faultSentence(broken)}`);
  return { value: JSON.parse(text), repeated: faults.map(faultSentence) };
}

function faultSentence({ line, column, expected, found }: JsonFault): string {
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

// Finds the place where a text stops being valid JSON. Node 20's `JSON.parse` gives no position for many texts, and the
// author of a file of a thousand lines needs it.

interface JsonFault {
  /** Valid JSON, but an object has a property twice. */
  ambiguous: boolean;
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 units. */
  column: number;
  expected: string;
  /** The start of the text at that place. */
  found: string;
}

/** What is allowed next; shown to users. */
type Expected =
  | "a value"
  | "a value or ]"
  | "a property name in double quotes"
  | "a property name in double quotes or }"
  | "a colon"
  | "a comma or }"
  | "a comma or ]"
  | "the end of the text";

/** Objects and lists that are not closed yet, innermost last: the closing bracket, and an object's names so far. */
type Open = { by: "}" | "]"; names: Set<string> }[];

const anotherName = "another property name, as the object already has this one";

const blankForm = /[ \t\r\n]*/y;
const tokenForm =
  // eslint-disable-next-line no-control-regex -- JSON forbids them in strings
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|[{}[\]:,]/y;

/** Enough to see the mistake; finding the line of each scans the text from its start. */
const maxRepeated = 100;

/**
 * Empty when the text is JSON and no object has a property twice, of which one would have no effect. Otherwise the
 * first hundred repeated names, followed by the place where the text stops being JSON, if any.
 */
export function jsonFaults(text: string): JsonFault[] {
  const repeated: JsonFault[] = [];
  const open: Open = [];
  let expected: Expected | null = "a value";
  let at = 0;
  for (;;) {
    at += matchAt(blankForm, text, at).length;
    const found = matchAt(tokenForm, text, at);
    const due: Expected = expected;
    if (due === "the end of the text" && at === text.length) return repeated;
    expected = expectedAfter(due, found, open);
    if (expected === null) return [...repeated, faultAt(text, at, due)];
    if (due.startsWith("a property name") && found !== "}") {
      const { names } = open.at(-1)!;
      const name = JSON.parse(found) as string;
      if (names.has(name) && repeated.length < maxRepeated)
        repeated.push({ ...faultAt(text, at, anotherName), ambiguous: true });
      names.add(name);
    }
    at += found.length;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/** What is allowed after `found`; null when `found` itself was not allowed. */
function expectedAfter(due: Expected, found: string, open: Open): Expected | null {
  if (found === "") return null;
  if (found === open.at(-1)?.by && due.endsWith(found)) {
    open.pop();
    return afterValue(open);
  }
  if (due.startsWith("a value")) return expectedAfterStart(found, open);
  if (due.startsWith("a property name")) return found.startsWith('"') ? "a colon" : null;
  if (due === "a colon") return found === ":" ? "a value" : null;
  if (due.startsWith("a comma") && found === ",")
    return open.at(-1)?.by === "}" ? "a property name in double quotes" : "a value";
  return null;
}

export function expectedAfterStart(found: string, open: Open): Expected | null {
  if (found === "{") {
    open.push({ by: "}", names: new Set() });
    return "a property name in double quotes or }";
  }
  if (found === "[") {
    open.push({ by: "]", names: new Set() });
    return "a value or ]";
  }
  return /^[}\]:,]/.test(found) ? null : afterValue(open);
}

function afterValue(open: Open): Expected {
  const closing = open.at(-1)?.by;
  return closing === undefined ? "the end of the text" : `a comma or ${closing}`;
}

function faultAt(text: string, at: number, expected: string): JsonFault {
  const before = text.slice(0, at);
  const line = /^[^\r\n]*/.exec(text.slice(at))?.[0] ?? "";
  // the text before an @ may be the rest of a password that contains a quote
  const shown = masked(line).replace(/^[^\s"]*@/, "***@");
  const brokenString = shown.startsWith('"') && matchAt(tokenForm, text, at) === "";
  const rest = (brokenString ? shown.replace(/:\/\/(?!\*).*/, "://…") : shown).slice(0, 20);
  return {
    ambiguous: false,
    line: before.split("\n").length,
    column: at - before.lastIndexOf("\n"),
    expected: brokenString ? "a string that ends on its line and has only JSON escapes" : expected,
    found: rest === "" ? "the end of the text" : rest,
  };
}
