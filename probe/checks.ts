import {
  brotliDecompressSync,
  gunzipSync,
  inflateSync,
  type InputType,
  type ZlibOptions,
} from "node:zlib";
import { parsePath } from "../server/json-path.js";
import type { Match, RestEndpoint } from "../server/registry.js";

/** What an answer is worth: good when its proof is there; the chain head where it names one. */
export interface Verdict {
  good: boolean;
  head: number | null;
}

export type AnswerCheck = (
  body: Buffer,
  contentEncoding: string | string[] | undefined,
) => Verdict;

/** Channel name to channel number, as Bitfinex gives them out anew on each connection. */
export type ChannelNumbers = ReadonlyMap<string, unknown>;

export type FrameCheck = (frame: unknown, channels: ChannelNumbers) => boolean;

/** No answer is read beyond this, nor decompressed. */
export const maxBodyBytes = 1024 * 1024;

const decompressors: Record<
  string,
  (body: InputType, options: ZlibOptions) => Buffer
> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

export function compileAnswerCheck({
  proof,
  head,
}: Pick<RestEndpoint, "proof" | "head">): AnswerCheck {
  const proofOf = parsePath(proof);
  const headOf = head && parsePath(head.path);

  return function checkAnswer(body, contentEncoding) {
    const answer = parsedAnswer(body, contentEncoding);
    // `$` alone asks for JSON, and null is JSON.
    const good =
      answer !== undefined && (proof === "$" || proofOf(answer) != null);
    if (!good || !head || !headOf) return { good, head: null };
    return { good, head: height(headOf(answer), head.encoding) };
  };
}

export function compileMatch(match: Match): FrameCheck {
  const valueOf = parsePath(match.path);
  const { equals } = match;
  if (equals === undefined) return (frame) => valueOf(frame) != null;
  const channel = /^\{chanId:(.+)\}$/.exec(String(equals))?.[1];
  if (channel === undefined) return (frame) => valueOf(frame) === equals;
  return (frame, channels) =>
    channels.has(channel) && valueOf(frame) === channels.get(channel);
}

/** An event further off than this says that the stamp is wrong, not how old the data is. */
const longestAgeMs = 24 * 60 * 60_000;

/** How old an event is at `nowMs`, whole milliseconds, negative ahead of our clock; null where its time is none to believe. */
export function eventAge(eventMs: number | null, nowMs: number): number | null {
  if (eventMs === null) return null;
  const ageMs = Math.round(nowMs - eventMs);
  return Math.abs(ageMs) <= longestAgeMs ? ageMs : null;
}

/** Undefined when the body is no JSON, or grows beyond its bound. */
function parsedAnswer(
  body: Buffer,
  contentEncoding: string | string[] | undefined,
): unknown {
  try {
    return JSON.parse(decoded(body, contentEncoding).toString("utf8"));
  } catch {
    // Whatever the venue sent that cannot be read is one and the same fault.
    return undefined;
  }
}

/** We ask for no encoding; a server that compresses all the same is understood, within bounds. */
function decoded(
  body: Buffer,
  contentEncoding: string | string[] | undefined = "identity",
): Buffer {
  const encoding = String(contentEncoding).trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return body;
  const decompress = decompressors[encoding];
  if (!decompress) throw new Error(`unknown content-encoding ${encoding}`);
  return decompress(body, { maxOutputLength: maxBodyBytes });
}

function height(value: unknown, encoding: "hex" | "integer"): number | null {
  const isHex = typeof value === "string" && /^0x[0-9a-f]+$/i.test(value);
  const isInteger =
    typeof value === "number" ||
    (typeof value === "string" && /^\d+$/.test(value));
  if (encoding === "hex" ? !isHex : !isInteger) return null;
  const number = Number(value);
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}
