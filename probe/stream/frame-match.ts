import { conditionsOf, type Stream } from "../../shared/registry/registry.js";
import { compileMatch, type FrameCheck } from "../rest/checks.js";

/**
 * Parsed containers and object members take up to thirty times as much memory as their text: a frame of 4 MiB of
 * brackets stops the program for a second, and a few such frames exhaust its memory. An order book of a thousand levels
 * on each side has less than ten thousand parts.
 */
const maxParts = 50_000;

/**
 * Some frames are not JSON: bare words (`pong`), truncated frames, and errors of a venue.
 *
 * @returns undefined if the frame is not JSON, or has too many parts to be parsed
 */
export function parsedFrame(frame: Buffer): unknown {
  if (hasTooManyParts(frame)) return undefined;
  try {
    return JSON.parse(frame.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Checks whether a parsed frame is data of a stream: all of `match` holds, and `ignore` does not. */
export function compileFrameMatch({ match, ignore }: Pick<Stream, "match" | "ignore">): FrameCheck {
  const tests = conditionsOf(match).map(compileMatch);
  const isIgnored = ignore ? compileMatch(ignore) : () => false;
  return (frame, channels) => tests.every((test) => test(frame, channels)) && !isIgnored(frame, channels);
}

/** Counts opening brackets and colons, including those within strings. */
function hasTooManyParts(frame: Buffer): boolean {
  if (frame.length <= maxParts) return false;
  let parts = 0;
  for (const byte of frame) if (opensPart[byte] === 1) parts += 1;
  return parts > maxParts;
}

const opensPart = Uint8Array.from({ length: 256 }, (_, byte) => ("[{:".includes(String.fromCharCode(byte)) ? 1 : 0));
