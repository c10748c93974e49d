import { parsePath } from "../../shared/registry/json-path.js";
import { milliseconds, type Newest, type TimeUnit } from "../../shared/registry/registry.js";

/** The newest entry of an answer: its time in milliseconds since 1970, or an id that differs for each entry. */
export type NewestThing = { atMs: number } | { id: string };

/** Reads a time from a parsed answer, in milliseconds since 1970; null if the answer has none. */
export function compileTime({
  path,
  word,
  unit,
}: {
  path: string;
  word?: number;
  unit: TimeUnit;
}): (answer: unknown) => number | null {
  const valueOf = parsePath(path);
  if (word === undefined) return (answer) => timeMs(valueOf(answer), unit);
  return (answer) => timeMs(wordOf(valueOf(answer), word), unit);
}

/** Finds the newest entry in a parsed answer; null if it has none, such as a list of trades in a quiet minute. */
export function compileNewest({ path, list, unit }: Newest): (answer: unknown) => NewestThing | null {
  if (unit === "id") {
    const idOf = parsePath(path);
    return (answer) => markOf(idOf(answer));
  }
  const timeOf = compileTime({ path, unit });
  if (list === undefined) return (answer) => at(timeOf(answer));
  const listOf = parsePath(list);
  return (answer) => {
    const entries = listOf(answer);
    if (!Array.isArray(entries)) return null;
    const newestMs = entries.reduce<number>((newest, entry) => Math.max(newest, timeOf(entry) ?? -Infinity), -Infinity);
    return at(newestMs);
  };
}

function at(atMs: number | null): NewestThing | null {
  return atMs === null || atMs === -Infinity ? null : { atMs };
}

function markOf(id: unknown): NewestThing | null {
  return typeof id === "string" || typeof id === "number" ? { id: String(id) } : null;
}

function timeMs(value: unknown, unit: TimeUnit): number | null {
  const ms = unit === "iso" ? isoMs(value) : numberIn(value) * milliseconds[unit];
  return Number.isFinite(ms) ? ms : null;
}

function isoMs(value: unknown): number {
  return typeof value === "string" ? Date.parse(value) : NaN;
}

/** Some venues write numbers as strings. */
function numberIn(value: unknown): number {
  if (typeof value === "number") return value;
  const isNumber = typeof value === "string" && /^(\d+(\.\d+)?|0x[0-9a-f]+)$/i.test(value);
  return isNumber ? Number(value) : NaN;
}

/** 32 bytes in hexadecimal digits. */
const wordDigits = 64;

function wordOf(words: unknown, place: number): unknown {
  if (typeof words !== "string" || !words.startsWith("0x")) return null;
  const from = 2 + place * wordDigits;
  const word = words.slice(from, from + wordDigits);
  return word.length === wordDigits ? `0x${word}` : null;
}
