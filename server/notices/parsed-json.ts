/**
 * Parses an answer of a venue as JSON. A few bytes can become many objects, and deep nesting can exhaust the stack of
 * code that traverses it, so both are limited before parsing. The keys `__proto__` and `constructor` are ordinary
 * properties, as long as no code copies them by assignment.
 */

import { shown } from "./expected-shape.js";

/** Feeds nest six levels deep. */
const mostLevels = 64;

/** A page of 10,000 incidents has a seventh of this. This many objects with different keys take a third of a second. */
const mostContainers = 300_000;

/**
 * Commas outside texts. They limit values, and with them keys: this many different keys take 0.4 s to parse, and 0.2 s
 * to write again. A page with a thousand resources, and 90 days of each, has nearly as many.
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

/**
 * A loop over characters: a regular expression takes four times as long, and exhausts the stack on megabytes of text.
 */
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
