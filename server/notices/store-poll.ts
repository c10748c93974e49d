import type { Db } from "../../shared/database/pool.js";
import type { FeedPoll } from "./feed.js";

/** A venue that posts a notice every half hour has fifty a day. More than this limit is not a real feed. */
const newADay = 300;

/** How many notices were new, had changed, had left the feed, or were not stored because there were too many. */
export interface StoredPoll {
  /** The problem of the reading, or one that only shows in comparison with earlier readings. */
  problem: string | null;
  added: number;
  changed: number;
  left_feed: number;
  refused: number;
}

/**
 * Stores the result of a reading: the state of the feed, new notices, and changes of known ones.
 *
 * @param at when the feed was read
 * @param dueAt when it is due again
 */
export async function storePoll(
  db: Db,
  feedId: number,
  at: Date,
  { problem, lists, feedAt, unchanged }: FeedPoll,
  dueAt: Date,
): Promise<StoredPoll> {
  const [kept] = await db.file<StoredPoll>("store_poll", [
    feedId,
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
 * PostgreSQL accepts neither half a surrogate pair nor the character 0. If a reader has let one through, the reading
 * must not be lost.
 */
function asTheDatabaseTakesIt(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\uFFFD").replaceAll("\0", "") : value;
}
