/**
 * Parses what a venue sent as JSON. A few bytes make many objects, and what is
 * nested deep ends the stack of who walks through it, so both are bounded
 * before anything is made of it. The keys `__proto__` and `constructor` are
 * properties like others as long as nobody copies them by assignment.
 */

import { shown } from "./shape.js";

/** Feeds nest six levels deep. */
const mostLevels = 64;

/** A page of 10,000 incidents has a seventh of it; so many objects, each of another key, take a third of a second. */
const mostContainers = 300_000;

/**
 * Outside of texts. They bound values, and with them keys: as many that are all
 * different take 0.4 s, and 0.2 to be written again. A page of a thousand
 * resources with 90 days of each has nearly as many.
 */
const mostCommas = 400_000;

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
  let commas = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (quoted) {
      if (character === backslash) at += 1;
      else if (character === quote) quoted = false;
      continue;
    }
    switch (character) {
      case quote:
        quoted = true;
        break;
      case comma:
        commas += 1;
        break;
      case openingBracket:
      case openingBrace:
        levels += 1;
        containers += 1;
        if (levels > mostLevels) return tooMany(mostLevels, "levels");
        break;
      case closingBracket:
      case closingBrace:
        levels -= 1;
    }
  }
  if (containers > mostContainers) return tooMany(mostContainers, "objects and lists");
  if (commas > mostCommas) return tooMany(mostCommas, "commas");
  return null;
}

const backslash = "\\".charCodeAt(0);
const quote = '"'.charCodeAt(0);
const comma = ",".charCodeAt(0);
const openingBracket = "[".charCodeAt(0);
const closingBracket = "]".charCodeAt(0);
const openingBrace = "{".charCodeAt(0);
const closingBrace = "}".charCodeAt(0);

function tooMany(most: number, what: string): string {
  return `expected JSON of at most ${most} ${what}, got more`;
}
