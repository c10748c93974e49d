/**
 * Finds the place where a text stops being JSON. `JSON.parse` of Node 20 gives
 * no place for many texts, and a person with a file of a thousand lines needs it.
 */

import { masked } from "../text/masked-text.js";

export interface JsonFault {
  /** It is JSON, and an object in it has a name twice. */
  ambiguous: boolean;
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 units. */
  column: number;
  expected: string;
  /** The beginning of what stands there. */
  found: string;
}

/** What may come next; read by people. */
type Expected =
  | "a value"
  | "a value or ]"
  | "a property name in double quotes"
  | "a property name in double quotes or }"
  | "a colon"
  | "a comma or }"
  | "a comma or ]"
  | "the end of the text";

/** What is still to be closed, innermost last: by which bracket, and of an object the names that it has already. */
type Open = { by: "}" | "]"; names: Set<string> }[];

const anotherName = "another property name, as the object has this one already";

const blank = /[ \t\r\n]*/y;
const token =
  // eslint-disable-next-line no-control-regex -- JSON forbids them in strings
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|[{}[\]:,]/y;

/** Enough to see what went wrong; each is looked up from the beginning of the text. */
const mostRepeated = 100;

/**
 * Empty when the text is JSON, and no object in it has a name twice: of such two, one would be without effect.
 * Otherwise the first hundred such names, and last the place where the text stops being JSON, if it does.
 */
export function jsonFaults(text: string): JsonFault[] {
  const repeated: JsonFault[] = [];
  const open: Open = [];
  let expected: Expected | null = "a value";
  let at = 0;
  for (;;) {
    at += match(blank, text, at).length;
    const found = match(token, text, at);
    const due: Expected = expected;
    if (due === "the end of the text" && at === text.length) return repeated;
    expected = follow(due, found, open);
    if (expected === null) return [...repeated, faultAt(text, at, due)];
    if (due.startsWith("a property name") && found !== "}") {
      const { names } = open.at(-1)!;
      const name = JSON.parse(found) as string;
      if (names.has(name) && repeated.length < mostRepeated)
        repeated.push({ ...faultAt(text, at, anotherName), ambiguous: true });
      names.add(name);
    }
    at += found.length;
  }
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/** What may come after `found`; null when `found` itself was not due. */
function follow(due: Expected, found: string, open: Open): Expected | null {
  if (found === "") return null;
  if (found === open.at(-1)?.by && due.endsWith(found)) {
    open.pop();
    return afterValue(open);
  }
  if (due.startsWith("a value")) return value(found, open);
  if (due.startsWith("a property name")) return found.startsWith('"') ? "a colon" : null;
  if (due === "a colon") return found === ":" ? "a value" : null;
  if (due.startsWith("a comma") && found === ",")
    return open.at(-1)?.by === "}" ? "a property name in double quotes" : "a value";
  return null;
}

function value(found: string, open: Open): Expected | null {
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
  // what stands before an @ may be the rest of a password that has a quote in it
  const shown = masked(line).replace(/^[^\s"]*@/, "***@");
  const brokenString = shown.startsWith('"') && match(token, text, at) === "";
  const rest = (brokenString ? shown.replace(/:\/\/(?!\*).*/, "://…") : shown).slice(0, 20);
  return {
    ambiguous: false,
    line: before.split("\n").length,
    column: at - before.lastIndexOf("\n"),
    expected: brokenString ? "a string that ends on its line and has no escapes but those of JSON" : expected,
    found: rest === "" ? "the end of the text" : rest,
  };
}
