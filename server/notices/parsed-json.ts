/**
 * Parses what a venue sent as JSON. A few bytes make many objects, and what is
 * nested deep ends the stack of who walks through it, so both are bounded
 * before anything is made of it. The keys `__proto__` and `constructor` are
 * properties like others as long as nobody copies them by assignment.
 */

import { shown } from "./shape.js";

/** Feeds nest six levels deep. */
const mostLevels = 64;

/** A page of 10,000 incidents has a tenth of it; so many empty objects take some 30 MB. */
const mostContainers = 500_000;

export type Parsed = { value: unknown } | { problem: string };

export function parsedJson(text: string): Parsed {
  if (/^\s*</.test(text)) return { problem: "answered HTML instead of JSON" };
  const problem = sizeProblem(text);
  if (problem !== null) return { problem };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { problem: `expected JSON, got ${shown(text)}` };
  }
}

/** By characters: a regular expression takes four times as long, and runs out of stack in a text of megabytes. */
function sizeProblem(text: string): string | null {
  let levels = 0;
  let containers = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (quoted && character === backslash) at += 1;
    else if (character === quote) quoted = !quoted;
    else if (quoted) continue;
    else if (opening.has(character)) {
      levels += 1;
      containers += 1;
      if (levels > mostLevels) return tooMany(mostLevels, "levels");
      if (containers > mostContainers)
        return tooMany(mostContainers, "objects and lists");
    } else if (closing.has(character)) levels -= 1;
  }
  return null;
}

const backslash = "\\".charCodeAt(0);
const quote = '"'.charCodeAt(0);
const opening = new Set(["[".charCodeAt(0), "{".charCodeAt(0)]);
const closing = new Set(["]".charCodeAt(0), "}".charCodeAt(0)]);

function tooMany(most: number, what: string): string {
  return `expected JSON of at most ${most} ${what}, got more`;
}
