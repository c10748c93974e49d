import type { FeedSource } from "./feed.js";

/** Copies of a document on several servers differ by some minutes; so do clocks. */
const toleratedMs = 10 * 60_000;

/** Before that there was nothing to report on (Bitcoin's first block): an earlier time is zero, or in another unit. */
const earliestMs = Date.UTC(2009, 0, 3);

/** Whether a notice that was read at this time can have been posted then. */
export function canBePosted(ms: number, at: Date): boolean {
  return ms >= earliestMs && ms <= +at + toleratedMs;
}

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
