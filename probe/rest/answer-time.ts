import { limits } from "../../shared/measurement/probe-rules.js";
import { parsePath } from "../../shared/registry/json-path.js";
import { milliseconds, type Newest, type TimeUnit } from "../../shared/registry/registry.js";

/** The newest entry of an answer: its time in milliseconds since 1970, or an id that differs for each entry. */
export type NewestThing = { atMs: number } | { id: string };

/**
 * `none`: the answer has no entry, as in a quiet minute. Null: it says nothing, because none of its times can be true.
 */
export type NewestIn = NewestThing | "none" | null;

/** When Bitcoin's first block was made: no trade is older. Earlier times are zero, or in another unit. */
const earliestTradeMs = Date.UTC(2009, 0, 3);

/**
 * Reads a time from a parsed answer or frame; null if it has none that can be true.
 *
 * @param nowMs milliseconds since 1970; default: now
 */
export type TimeOf = (answer: unknown, nowMs?: number) => number | null;

/**
 * Reads a time from a parsed answer or frame, in milliseconds since 1970. A time that cannot be true says nothing; an
 * old one can.
 *
 * @param earliestMs earlier times say nothing. For data it is 0: an oracle that was never updated says 0.
 */
export function compileTime(
  { path, word, unit }: { path: string; word?: number; unit: TimeUnit },
  earliestMs = earliestTradeMs,
): TimeOf {
  const valueOf = parsePath(path);
  const wordIn = word === undefined ? valueOf : (answer: unknown) => wordOf(valueOf(answer), word);
  return (answer, nowMs = Date.now()) => {
    const ms = timeMs(wordIn(answer), unit);
    return ms >= earliestMs && ms <= nowMs + limits.future_time_ms ? ms : null;
  };
}

/** Finds the newest entry in a parsed answer. */
export function compileNewest({ path, list, unit }: Newest): (answer: unknown, nowMs?: number) => NewestIn {
  const valueOf = parsePath(path);
  if (unit === "id") return (answer) => markOf(valueOf(answer));
  const timeOf = compileTime({ path, unit });
  if (list === undefined)
    return (answer, nowMs) => (valueOf(answer) == null ? "none" : newestOf([timeOf(answer, nowMs)]));
  const listOf = parsePath(list);
  return (answer, nowMs) => {
    const entries = listOf(answer) ?? [];
    if (!Array.isArray(entries)) return null;
    return entries.length === 0 ? "none" : newestOf(entries.map((entry) => timeOf(entry, nowMs)));
  };
}

function newestOf(times: (number | null)[]): NewestThing | null {
  const atMs = times.reduce<number>((newest, one) => Math.max(newest, one ?? -Infinity), -Infinity);
  return atMs === -Infinity ? null : { atMs };
}

function markOf(id: unknown): NewestIn {
  if (id == null) return "none";
  return typeof id === "string" || typeof id === "number" ? { id: String(id) } : null;
}

function timeMs(value: unknown, unit: TimeUnit): number {
  return unit === "iso" ? isoMs(value) : numberIn(value) * milliseconds[unit];
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
