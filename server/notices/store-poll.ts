import type { Db } from "../../shared/database/pool.js";
import type { FeedPoll } from "./feed.js";

/** A venue that posts a notice every half hour has fifty a day. What invents more than this is no feed. */
const newADay = 300;

/** How many notices were new, told otherwise than before, were in the feed no more, or were too many to be kept. */
export interface StoredPoll {
  /** The reading's own, or what shows only beside what was known before. */
  problem: string | null;
  added: number;
  changed: number;
  left_feed: number;
  refused: number;
}

/**
 * Keeps what a reading brought: the state of the feed, new notices, and changes of those that are known.
 *
 * @param at when it was read
 * @param dueAt not to be asked again before
 */
export async function storePoll(
  db: Db,
  sourceId: number,
  at: Date,
  { problem, lists, feedAt, unchanged }: FeedPoll,
  dueAt: Date,
): Promise<StoredPoll> {
  const [kept] = await db.file<StoredPoll>("keep_reading", [
    sourceId,
    at,
    problem,
    JSON.stringify(unchanged ? lists.map((list) => ({ ...list, notices: null })) : lists, asTheDatabaseTakesIt),
    feedAt,
    dueAt,
    newADay,
  ]);
  return kept!;
}

/**
 * PostgreSQL takes neither half a character nor the character 0: whatever a reader let through, it must not lose the
 * reading.
 */
function asTheDatabaseTakesIt(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\uFFFD").replaceAll("\0", "") : value;
}
