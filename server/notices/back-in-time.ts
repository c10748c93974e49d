import type { Source } from "./feed.js";

/** Copies of a document on several servers differ by some minutes, and that is nothing. */
const toleratedMs = 10 * 60_000;

/** A feed that is older than it was before is a stale copy, or another feed: what it lists is not used. Null where it is none. */
export function backInTime(
  feedAt: Date,
  { feedAt: before }: Source,
): string | null {
  if (before === null || +before - +feedAt <= toleratedMs) return null;
  return `went back in time: it says it is of ${feedAt.toISOString()}, and was of ${before.toISOString()} before`;
}
