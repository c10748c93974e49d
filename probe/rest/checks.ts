import { brotliDecompressSync, gunzipSync, inflateSync, type InputType, type ZlibOptions } from "node:zlib";
import { parsePath } from "../../shared/registry/json-path.js";
import {
  conditionsOf,
  type Condition,
  type Match,
  type Proof,
  type RestEndpoint,
} from "../../shared/registry/registry.js";
import { compileNewest, compileTime, type NewestThing } from "./answer-time.js";

/** What an answer is worth: good when its proof is there. All else is null where it is not good, or does not say it. */
export interface Verdict {
  good: boolean;
  /** The chain head. */
  head: number | null;
  /** The newest thing in it. */
  newest: NewestThing | null;
  /** Its own time of its data, milliseconds since 1970. */
  dataMs: number | null;
}

export type AnswerCheck = (body: Buffer, contentEncoding: string | string[] | undefined) => Verdict;

/** Channel name to channel number, as Bitfinex gives them out again on each connection. */
export type ChannelNumbers = ReadonlyMap<string, unknown>;

export type FrameCheck = (frame: unknown, channels: ChannelNumbers) => boolean;

/** No answer is read beyond this, nor decompressed. */
export const maxBodyBytes = 1024 * 1024;

const decompressors: Record<string, (body: InputType, options: ZlibOptions) => Buffer> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

export function compileAnswerCheck({
  proof,
  head,
  newest,
  dataTime,
}: Pick<RestEndpoint, "proof" | "head" | "newest" | "dataTime">): AnswerCheck {
  const isProven = compileProof(proof);
  const headOf = head && parsePath(head.path);
  const newestOf = newest && compileNewest(newest);
  const dataMsOf = dataTime && compileTime(dataTime);

  return function checkAnswer(body, contentEncoding) {
    const answer = parsedAnswer(body, contentEncoding);
    if (answer === undefined || !isProven(answer)) return { good: false, head: null, newest: null, dataMs: null };
    return {
      good: true,
      head: head && headOf ? height(headOf(answer), head.encoding) : null,
      newest: newestOf?.(answer) ?? null,
      dataMs: dataMsOf?.(answer) ?? null,
    };
  };
}

/** Tells whether an answer that is JSON holds what proves it good. */
function compileProof(proof: Proof): (answer: unknown) => boolean {
  // asks for JSON and nothing more, and null is JSON
  if (proof === "$") return () => true;
  return compileConditions(typeof proof === "string" ? [{ path: proof }] : conditionsOf(proof));
}

/** Tells whether all conditions hold of a value. */
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
  if (condition.equals === undefined) return (value) => valueOf(value) != null;
  const wanted = new Set<unknown>([condition.equals].flat());
  return (value) => wanted.has(valueOf(value));
}

export function compileMatch(match: Match): FrameCheck {
  const valueOf = parsePath(match.path);
  const { equals } = match;
  if (equals === undefined) return (frame) => valueOf(frame) != null;
  const channel = /^\{chanId:(.+)\}$/.exec(String(equals))?.[1];
  if (channel === undefined) return (frame) => valueOf(frame) === equals;
  return (frame, channels) => {
    // A venue that tells no number names none: what has none at that place is not the channel's.
    const number = channels.get(channel);
    return number != null && valueOf(frame) === number;
  };
}

/** An event further off than this says that the stamp is wrong, not how old the data is. */
const longestAgeMs = 24 * 60 * 60_000;

/**
 * How old an event is at `nowMs`, whole milliseconds, negative ahead of our clock; null where its time is none to
 * believe.
 */
export function eventAge(eventMs: number | null, nowMs: number): number | null {
  if (eventMs === null) return null;
  const ageMs = Math.round(nowMs - eventMs);
  return Math.abs(ageMs) <= longestAgeMs ? ageMs : null;
}

/** Undefined when the body is no JSON, or grows beyond its bound. */
function parsedAnswer(body: Buffer, contentEncoding: string | string[] | undefined): unknown {
  try {
    return JSON.parse(decoded(body, contentEncoding).toString("utf8"));
  } catch {
    // Whatever the venue sent that cannot be read is one and the same fault.
    return undefined;
  }
}

/** We ask for no encoding; a server that compresses all the same is understood, within bounds. */
function decoded(body: Buffer, contentEncoding: string | string[] | undefined = "identity"): Buffer {
  const encoding = String(contentEncoding).trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return body;
  const decompress = decompressors[encoding];
  if (!decompress) throw new Error(`unknown content-encoding ${encoding}`);
  return decompress(body, { maxOutputLength: maxBodyBytes });
}

function height(value: unknown, encoding: "hex" | "integer"): number | null {
  const isHex = typeof value === "string" && /^0x[0-9a-f]+$/i.test(value);
  const isInteger = typeof value === "number" || (typeof value === "string" && /^\d+$/.test(value));
  if (encoding === "hex" ? !isHex : !isInteger) return null;
  const number = Number(value);
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}
