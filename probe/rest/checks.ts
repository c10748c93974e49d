import { brotliDecompressSync, gunzipSync, inflateSync, type InputType, type ZlibOptions } from "node:zlib";
import { maxBodyBytes, jsonLimits } from "../../shared/untrusted/limits.js";
import { parsedJson, withoutMark } from "../../shared/untrusted/parsed-json.js";
import { parsePath } from "../../shared/registry/json-path.js";
import {
  conditionsOf,
  type AnyOf,
  type Condition,
  type Match,
  type Proof,
  type RestEndpoint,
} from "../../shared/registry/registry.js";
import { compileNewest, compileTime, type NewestIn } from "./answer-time.js";

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

const bad = { good: false, head: null, newest: null, dataMs: null } as const;

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
  const headOf = head && parsePath(head.path);
  const newestOf = newest && compileNewest(newest);
  const dataMsOf = dataTime && compileTime(dataTime, 0);

  return function checkAnswer(body, contentEncoding) {
    const bytes = decoded(body, contentEncoding);
    const parsed = bytes && parsedJson(withoutMark(bytes), jsonLimits.measured);
    if (parsed === null || "excess" in parsed) return { ...bad, said: null };
    // a firewall in front of the venue has its words in a page
    const words = "text" in parsed ? parsed.text : parsed.value;
    if (isBlocked(words)) return { ...bad, said: "blocked" };
    if (isLimited(words)) return { ...bad, said: "limited" };
    if (isHalted(words)) return { ...bad, said: "halted" };
    if ("text" in parsed || !isProven(parsed.value)) return { ...bad, said: null };
    const answer = parsed.value;
    return {
      good: true,
      said: null,
      head: head && headOf ? height(headOf(answer), head.encoding) : null,
      newest: newestOf?.(answer) ?? null,
      dataMs: dataMsOf?.(answer) ?? null,
    };
  };
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
    const valueOf = parsePath(condition.unless);
    return (value) => valueOf(value) == null;
  }
  const valueOf = parsePath(condition.path);
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
  const valueOf = parsePath(match.path);
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
function decoded(body: Buffer, contentEncoding: string | string[] | undefined = "identity"): Buffer | null {
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

function height(value: unknown, encoding: "hex" | "integer"): number | null {
  const isHex = typeof value === "string" && /^0x[0-9a-f]+$/i.test(value);
  const isInteger = typeof value === "number" || (typeof value === "string" && /^\d+$/.test(value));
  if (encoding === "hex" ? !isHex : !isInteger) return null;
  const number = Number(value);
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}
