import { brotliDecompressSync, gunzipSync, inflateSync, type InputType, type ZlibOptions } from "node:zlib";
import { jsonLimits, maxBodyBytes } from "../../../shared/http/limits.js";
import { parsedJson, withoutMark } from "../../../shared/http/parsed-json.js";
import { parseJsonPath } from "../../../shared/registry/json-path.js";
import {
  type AnyOf,
  type Condition,
  conditionsOf,
  type Match,
  msPerUnit,
  type Newest,
  type Proof,
  type RestEndpoint,
  type TimeUnit,
} from "../../../shared/registry/registry.js";
import { probeLimits } from "../../../shared/rules/probe-rules.js";
import type { ClockError } from "../clock-error.js";

/** An answer is good if it contains its proof. The other fields are null if it is not good, or lacks them. */
export interface Verdict {
  good: boolean;
  /** What the venue says instead of an answer, by the registry's words for it; null if it says none of these. */
  said: "blocked" | "limited" | "halted" | null;
  /** The chain head. */
  head: number | null;
  newest: NewestIn;
  /** The time that it states for its data, milliseconds since 1970. */
  dataMs: number | null;
}

export type AnswerCheck = (body: Buffer, contentEncoding: string | string[] | undefined) => Verdict;

/** Channel names and their numbers, which Bitfinex assigns for each connection. */
export type ChannelNumbers = ReadonlyMap<string, unknown>;

export type FrameCheck = (frame: unknown, channels: ChannelNumbers) => boolean;

const decompressors: Record<string, (body: InputType, options: ZlibOptions) => Buffer> = {
  gzip: gunzipSync,
  // an alias (RFC 9110, 8.4.1.3)
  "x-gzip": gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

const badVerdict = { good: false, head: null, newest: null, dataMs: null } as const;

type CheckedParts = "proof" | "blocked" | "limited" | "halted" | "head" | "newest" | "dataTime";

export function compileAnswerCheck({
  proof,
  blocked,
  limited,
  halted,
  head,
  newest,
  dataTime,
}: Pick<RestEndpoint, CheckedParts>): AnswerCheck {
  const isProven = compileProof(proof);
  const isBlocked = compileAnyOf(blocked);
  const isLimited = compileAnyOf(limited);
  const isHalted = compileAnyOf(halted);
  const headOf = head && parseJsonPath(head.path);
  const newestOf = newest && compileNewest(newest);
  const dataMsOf = dataTime && compileTime(dataTime, 0);

  return function checkAnswer(body, contentEncoding) {
    const parsed = parsedBody(body, contentEncoding);
    if (parsed === null) return { ...badVerdict, said: null };
    // a firewall in front of the venue has its words in a page
    const words = "text" in parsed ? parsed.text : parsed.value;
    if (isBlocked(words)) return { ...badVerdict, said: "blocked" };
    if (isLimited(words)) return { ...badVerdict, said: "limited" };
    if (isHalted(words)) return { ...badVerdict, said: "halted" };
    if ("text" in parsed || !isProven(parsed.value)) return { ...badVerdict, said: null };
    const answer = parsed.value;
    const height = head && headOf ? blockHeight(headOf(answer), head.encoding) : null;
    // a node that is asked for its head and names none has not answered
    if (head && height === null) return { ...badVerdict, said: null };
    return {
      good: true,
      said: null,
      head: height,
      newest: newestOf?.(answer) ?? null,
      dataMs: dataMsOf?.(answer) ?? null,
    };
  };
}

/** The JSON of a body, or its text if it is none; null if it cannot be decompressed, or has too many parts. */
export function parsedBody(
  body: Buffer,
  contentEncoding: string | string[] | undefined,
): { value: unknown } | { text: string } | null {
  const bytes = decodedBody(body, contentEncoding);
  const parsed = bytes && parsedJson(withoutMark(bytes), jsonLimits.measured);
  return parsed === null || "excess" in parsed ? null : parsed;
}

/** Checks whether a parsed answer contains its proof. */
function compileProof(proof: Proof): (answer: unknown) => boolean {
  // any JSON is good, including null
  if (proof === "$") return () => true;
  return compileConditions(typeof proof === "string" ? [{ path: proof }] : conditionsOf(proof));
}

/** Checks whether a value meets all conditions. */
export function compileConditions(conditions: readonly Condition[]): (value: unknown) => boolean {
  const tests = conditions.map(compileCondition);
  return (value) => tests.every((test) => test(value));
}

function compileCondition(condition: Condition): (value: unknown) => boolean {
  if ("unless" in condition) {
    const valueOf = parseJsonPath(condition.unless);
    return (value) => valueOf(value) == null;
  }
  const valueOf = parseJsonPath(condition.path);
  if ("is" in condition) return (value) => Array.isArray(valueOf(value));
  if ("includes" in condition) return compileIncludes(valueOf, condition.includes);
  if (condition.equals === undefined) return (value) => valueOf(value) != null;
  const wanted = new Set<unknown>([condition.equals].flat());
  return (value) => wanted.has(valueOf(value));
}

function compileIncludes(valueOf: (value: unknown) => unknown, text: string): (value: unknown) => boolean {
  const wanted = text.toLowerCase();
  return (value) => {
    const found = valueOf(value);
    return typeof found === "string" && found.toLowerCase().includes(wanted);
  };
}

/** Checks whether a value meets one of the alternatives; never, if there are none. */
export function compileAnyOf(words: AnyOf | undefined): (value: unknown) => boolean {
  const tests = alternativesOf(words).map(compileConditions);
  return (value) => tests.some((test) => test(value));
}

/** The lists of conditions of which one must hold as a whole. */
export function alternativesOf(words: AnyOf | undefined): Condition[][] {
  if (words === undefined) return [];
  const alternatives = Array.isArray(words) && words.some(Array.isArray) ? words : [words];
  return alternatives.map((one) => conditionsOf(one as Condition | Condition[]));
}

export function compileMatch(match: Match): FrameCheck {
  const valueOf = parseJsonPath(match.path);
  const { equals } = match;
  if (equals === undefined) return (frame) => valueOf(frame) != null;
  const channel = /^\{chanId:(.+)\}$/.exec(String(equals))?.[1];
  if (channel === undefined) return (frame) => valueOf(frame) === equals;
  return (frame, channels) => {
    // If the venue has assigned no number, a frame without one at that path must not match.
    const number = channels.get(channel);
    return number != null && valueOf(frame) === number;
  };
}

/**
 * The probe requests no compression. It still accepts a compressed answer, within limits.
 *
 * @returns null if it cannot be decompressed, or then exceeds its limit: every unreadable body is the same fault
 */
function decodedBody(body: Buffer, contentEncoding: string | string[] | undefined = "identity"): Buffer | null {
  const encoding = String(contentEncoding).trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return body;
  const decompress = decompressors[encoding];
  if (!decompress) return null;
  try {
    return decompress(body, { maxOutputLength: maxBodyBytes.measured });
  } catch (error) {
    if (!("code" in (error as Error))) throw error;
    return null;
  }
}

function blockHeight(value: unknown, encoding: "hex" | "integer"): number | null {
  const isHex = typeof value === "string" && /^0x[0-9a-f]+$/i.test(value);
  const isInteger = typeof value === "number" || (typeof value === "string" && /^\d+$/.test(value));
  if (encoding === "hex" ? !isHex : !isInteger) return null;
  const number = Number(value);
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}

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
  const valueOf = parseJsonPath(path);
  const wordIn = word === undefined ? valueOf : (answer: unknown) => wordOf(valueOf(answer), word);
  return (answer, nowMs = Date.now()) => {
    const ms = timeMs(wordIn(answer), unit);
    return ms >= earliestMs && ms <= nowMs + probeLimits.future_time_ms ? ms : null;
  };
}

/** Finds the newest entry in a parsed answer. */
export function compileNewest({ path, list, unit }: Newest): (answer: unknown, nowMs?: number) => NewestIn {
  const valueOf = parseJsonPath(path);
  if (unit === "id") return (answer) => markOf(valueOf(answer));
  const timeOf = compileTime({ path, unit });
  if (list === undefined)
    return (answer, nowMs) => (valueOf(answer) == null ? "none" : newestOf([timeOf(answer, nowMs)]));
  const listOf = parseJsonPath(list);
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
  return unit === "iso" ? isoMs(value) : numberIn(value) * msPerUnit[unit];
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

// The age of timestamped data, measured with our own clock, which may be wrong.

/**
 * The age by a correct clock. Our clock is trusted if it may be right within the known bounds: the middle of wide
 * bounds would be less accurate.
 */
export function correctedAge(ageMs: number, clock: ClockError | null): number {
  const { errorMs, withinMs } = clock ?? { errorMs: 0, withinMs: 0 };
  return Math.round(Math.abs(errorMs) > withinMs ? ageMs - errorMs : ageMs);
}

/**
 * The minimum age: uncertainty is resolved in the venue's favour.
 *
 * @param freshestMs the age of data that may count as fresh, by a clock that cannot be compared
 */
export function leastAge(ageMs: number, clock: ClockError | null, freshestMs: number): number {
  return clock ? ageMs - clock.errorMs - clock.withinMs : ageMs - Math.max(0, freshestMs);
}
