import { conditionsOf, type Stream } from "../../shared/registry/registry.js";
import { compileMatch, type FrameCheck } from "../rest/checks.js";

/**
 * Containers and members of objects take up to thirty times as much memory as text: a frame of 4 MiB of brackets stops
 * the program for a second, and some of them fill it. A book of a thousand levels on each side has less than ten
 * thousand.
 */
const maxParts = 50_000;

/**
 * Bare words (`pong`) are no JSON; neither is a frame that was cut off, nor what a venue sends by mistake.
 *
 * @returns undefined for what is no JSON, or is made of too many parts to be read
 */
export function parsedFrame(frame: Buffer): unknown {
  if (hasTooManyParts(frame)) return undefined;
  try {
    return JSON.parse(frame.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Tells whether a parsed frame is data of a stream: all of `match` holds, and `ignore` does not. */
export function compileFrameMatch({ match, ignore }: Pick<Stream, "match" | "ignore">): FrameCheck {
  const tests = conditionsOf(match).map(compileMatch);
  const isIgnored = ignore ? compileMatch(ignore) : () => false;
  return (frame, channels) => tests.every((test) => test(frame, channels)) && !isIgnored(frame, channels);
}

/** Of opening brackets and colons, which those within texts are counted among. */
function hasTooManyParts(frame: Buffer): boolean {
  if (frame.length <= maxParts) return false;
  let parts = 0;
  for (const byte of frame) if (opensPart[byte] === 1) parts += 1;
  return parts > maxParts;
}

const opensPart = Uint8Array.from({ length: 256 }, (_, byte) => ("[{:".includes(String.fromCharCode(byte)) ? 1 : 0));
