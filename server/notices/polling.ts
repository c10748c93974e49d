import type { Db } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { feedKinds } from "./feed-kinds.js";
import { makeFeedLog } from "./feed-log.js";
import type { FeedReader, FeedSource } from "./feed.js";
import { type StoredPoll, storePoll } from "./store-poll.js";
import type { NoticesMetrics } from "./metrics.js";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

/**
 * Pages and APIs are cached for about a minute, and the venues' documentation asks for at most one reading in one to
 * two minutes.
 */
const cadenceMs = 90 * secondMs;
/**
 * The backoff of a feed that stays unreadable grows up to this. Even with the random spread and the duration of a
 * reading, the feed is read before it counts as silent.
 */
const seldomestMs = 9 * minuteMs;
/** For this long after a reading has begun, no other reader claims the feed. A reading ends within two minutes. */
const patienceMs = 5 * minuteMs;
/** A feed that is new in the registry is found within this time. */
const longestRestMs = 30 * secondMs;

/** One row of `claim_feed.sql`. */
type Claimed = ClaimedFeed | { feed_id: null; at: Date; due_at: Date | null };

interface ClaimedFeed {
  feed_id: number;
  at: Date;
  due_at: Date;
  kind: FeedSource["kind"];
  api: string;
  page: string | null;
  unended_readings: number;
  read_at: Date | null;
  feed_at: Date | null;
  unreadable_since: Date | null;
}

export interface PollingOptions {
  db: Db;
  reader: FeedReader;
  log: Log;
  metrics?: NoticesMetrics | undefined;
  /** Returns 0 to 1; it spreads the readings. */
  random?: () => number;
}

export interface Polling {
  /**
   * Reads the feed that has been due for longest, if any is, and stores the result. Concurrent calls read different
   * feeds.
   *
   * @param at the present; null: by the database's clock
   * @returns milliseconds until the next call is needed
   * @throws if the database fails; and the signal's reason if it ends the reading
   */
  readNext: (signal: AbortSignal, at?: Date | null) => Promise<number>;
}

/**
 * Reads every feed in the registry, each on its own schedule. The schedule is in the database, so a new leader
 * continues it.
 */
export function makePolling({ db, reader, log, metrics, random = Math.random }: PollingOptions): Polling {
  const tell = makeFeedLog(log);
  return {
    async readNext(signal, at = null) {
      const [row] = await db.file<Claimed>("claim_feed", [at, patienceMs, Object.keys(feedKinds)]);
      const claimed = row!;
      if (claimed.feed_id === null) return restMs(claimed);
      try {
        await read(claimed, signal);
      } catch (error) {
        await db.file("release_feed", [claimed.feed_id, claimed.due_at]);
        throw error;
      }
      return 0;
    },
  };

  async function read(claimed: ClaimedFeed, signal: AbortSignal) {
    const { feed_id: feedId, kind, api, page, unended_readings: unended, ...known } = claimed;
    if (unended > 0)
      log.warn("earlier readings of a feed did not end: programs may have died of its answer", {
        ...{ kind, host: new URL(api).host, unended },
      });
    const source: FeedSource = {
      ...{ kind, api, page },
      readAt: known.read_at,
      feedAt: known.feed_at,
    };
    const startMs = performance.now();
    const reading = await reader.read(source, known.at, signal);
    const tookMs = performance.now() - startMs;
    const dueAt = new Date(+known.at + Math.max(pauseMs(known), tookMs + reading.retryAfterMs));
    const kept = await storePoll(db, feedId, known.at, reading, dueAt);
    tell({
      source,
      unreadableSince: known.unreadable_since,
      problem: kept.problem,
      unanswered: reading.unanswered,
    });
    const { added, changed, left_feed, refused } = kept;
    logCounts(source, { added, changed, left_feed, refused });
    metrics?.read(kept.problem === null, tookMs, kept.added);
  }

  function pauseMs({ at, unreadable_since: since }: { at: Date; unreadable_since: Date | null }) {
    const brokenMs = since === null ? 0 : +at - +since;
    const usualMs = Math.min(Math.max(cadenceMs, brokenMs / 4), seldomestMs);
    return usualMs * (0.8 + 0.4 * random());
  }

  function logCounts({ kind, api }: FeedSource, counts: Omit<StoredPoll, "problem">) {
    if (Object.values(counts).some((count) => count > 0))
      log.info("notices", { kind, host: new URL(api).host, ...counts });
  }
}

function restMs({ at, due_at: dueAt }: { at: Date; due_at: Date | null }): number {
  if (dueAt === null) return longestRestMs;
  return Math.min(Math.max(+dueAt - +at, secondMs), longestRestMs);
}
