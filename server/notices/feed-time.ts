import type { FeedSource } from "./feed.js";

/** Copies of a document on several servers differ by some minutes, and so do clocks. */
const toleratedMs = 10 * 60_000;

/**
 * What is wrong with the time that a feed says it is of; null where nothing is.
 * What such a feed lists is not used.
 *
 * One that is older than it was before is a stale copy, or another feed. One
 * from the future would make every later reading seem to have gone back.
 */
export function feedTimeProblem(feedAt: Date, { feedAt: before }: FeedSource, at: Date): string | null {
  if (before !== null && +before - +feedAt > toleratedMs)
    return `went back in time: it says it is of ${feedAt.toISOString()}, and was of ${before.toISOString()} before`;
  if (+feedAt - +at > toleratedMs) return `says it is of ${feedAt.toISOString()}, which is still to come`;
  return null;
}
