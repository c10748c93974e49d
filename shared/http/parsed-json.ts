/**
 * Parses the JSON of a stranger. A few bytes can become many objects, and deep nesting can exhaust the stack of code
 * that traverses it, so both are limited before parsing. The keys `__proto__` and `constructor` are ordinary
 * properties, as long as no code copies them by assignment.
 */

import type { JsonLimits } from "./limits.js";

/** `excess`: the limit that is exceeded, such as `64 levels`. `text`: bytes that are not JSON, decoded as UTF-8. */
export type Parsed = { value: unknown } | { excess: string } | { text: string };

export function parsedJson(bytes: Buffer, limits: JsonLimits): Parsed {
  const excess = excessOf(bytes, limits);
  if (excess !== null) return { excess };
  const text = bytes.toString("utf8");
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { text };
  }
}

/** Documents may begin with a byte order mark (RFC 8259, 8.1); no frame does. */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

const [quote, backslash] = [0x22, 0x5c];

/** By byte: +1 opens a level, -1 closes one, 2 separates values; 0 is none of these. In UTF-8 each is one byte. */
const byteRoles = new Int8Array(256);
for (const opening of "[{") byteRoles[opening.charCodeAt(0)] = 1;
for (const closing of "]}") byteRoles[closing.charCodeAt(0)] = -1;
for (const separator of ",:") byteRoles[separator.charCodeAt(0)] = 2;

function excessOf(bytes: Buffer, { parts, levels }: JsonLimits): string | null {
  if (bytes.length > levels && levelsOf(bytes) > levels) return `${levels} levels`;
  if (bytes.length > parts && partsOf(bytes) > parts) return `${parts} brackets, commas and colons`;
  return null;
}

/**
 * Brackets, commas and colons outside of strings. A regular expression takes four times as long, and exhausts the stack
 * on megabytes of text.
 */
export function partsOf(bytes: Buffer): number {
  let parts = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte === quote) at = endOfString(bytes, at);
    else if (byteRoles[byte]! > 0) parts += 1;
  }
  return parts;
}

function levelsOf(bytes: Buffer): number {
  let [levels, deepest] = [0, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte === quote) at = endOfString(bytes, at);
    else if (byteRoles[byte] === 1) deepest = Math.max(deepest, (levels += 1));
    else if (byteRoles[byte] === -1) levels -= 1;
  }
  return deepest;
}

/** @param from of the opening quote */
function endOfString(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at += 1) {
    if (bytes[at] === backslash) at += 1;
    else if (bytes[at] === quote) return at;
  }
  return bytes.length;
}
