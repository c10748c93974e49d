import type { FeedSource } from "./feed.js";

/** Copies of a document on several servers differ by some minutes; so do clocks. */
const toleratedMs = 10 * 60_000;

/**
 * The problem with a feed's own time; null if there is none. The list of a feed with such a problem is not used.
 *
 * A feed that is older than at the last reading is a stale copy, or another feed. A feed from the future would make
 * every later reading appear to go back in time.
 */
export function feedTimeProblem(feedAt: Date, { feedAt: before }: FeedSource, at: Date): string | null {
  if (before !== null && +before - +feedAt > toleratedMs)
    return `went back in time: its time is ${feedAt.toISOString()}, and was ${before.toISOString()} before`;
  if (+feedAt - +at > toleratedMs) return `its time is ${feedAt.toISOString()}, which is in the future`;
  return null;
}
