import { conditionsOf, type Stream } from "../../shared/registry/registry.js";
import { jsonLimits } from "../../shared/untrusted/limits.js";
import { parsedJson } from "../../shared/untrusted/parsed-json.js";
import { compileMatch, type FrameCheck } from "../rest/checks.js";

/**
 * Some frames are not JSON: bare words (`pong`), truncated frames, and errors of a venue.
 *
 * @returns undefined if the frame is not JSON, or has too many parts to be parsed
 */
export function parsedFrame(frame: Buffer): unknown {
  const parsed = parsedJson(frame, jsonLimits.frame);
  return "value" in parsed ? parsed.value : undefined;
}

/** Checks whether a parsed frame is data of a stream: all of `match` holds, and `ignore` does not. */
export function compileFrameMatch({ match, ignore }: Pick<Stream, "match" | "ignore">): FrameCheck {
  const tests = conditionsOf(match).map(compileMatch);
  const isIgnored = ignore ? compileMatch(ignore) : () => false;
  return (frame, channels) => tests.every((test) => test(frame, channels)) && !isIgnored(frame, channels);
}
