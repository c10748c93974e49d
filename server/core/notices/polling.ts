import { Counter, Histogram } from "prom-client";
import type { Db } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { makeOutage } from "../../../shared/log/outage.js";
import type { OwnMetrics } from "../../../shared/log/own-metrics.js";
import type { FeedPoll, FeedReader, FeedSource } from "./feed.js";
import { feedKinds } from "./formats/feed-kinds.js";

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

/** The facts about a reading that are logged. */
export interface ReadFeed {
  source: { kind: string; api: string };
  /** The state before this reading; null: the feed was readable. */
  unreadableSince: Date | null;
  /** Null: the feed is readable now. */
  problem: string | null;
  unanswered: boolean;
}

/** If this many hosts in a row do not answer, and no other does, the fault is in this machine's network. */
const silentHosts = 3;

/**
 * Logs when a feed becomes unreadable and readable again. If none answers, this core's network is at fault: that is
 * logged once for all feeds, and then every minute with counts.
 */
export function makeFeedLog(log: Log): (read: ReadFeed) => void {
  const network = makeOutage(log, {
    begins:
      "no feed of a venue answers: this machine seems to have no network; the last readings of the feeds stay on record",
    lasts: "still no feed of a venue answers",
    over: "feeds of venues answer again",
  });
  /** Hosts that have not answered since the last answer of any host. */
  const silent = new Set<string>();
  /** Feeds whose trouble was logged as a fault of the network. */
  const ofNetwork = new Set<string>();

  return function logReading({ source, unreadableSince, problem, unanswered }) {
    const { host } = new URL(source.api);
    const feed = { kind: source.kind, host };
    if (unanswered) silent.add(host);
    else {
      silent.clear();
      network.succeeded();
    }
    if (unanswered && silent.size >= silentHosts) {
      network.failed("readings", { ...feed, problem });
      if (unreadableSince === null) ofNetwork.add(source.api);
      return;
    }
    // a feed that failed together with all others, and still fails while others answer, has trouble of its own
    const isUnlogged = unreadableSince === null || ofNetwork.has(source.api);
    if (problem !== null && isUnlogged) log.warn("a venue's feed cannot be read", { ...feed, problem });
    if (problem === null && unreadableSince !== null && !isUnlogged) log.info("a venue's feed can be read again", feed);
    ofNetwork.delete(source.api);
  };
}

/** Metrics of a core's readings of venues' feeds. */
interface NoticesMetrics {
  /** @param tookMs from the first request until the result was stored, including pauses between documents */
  read: (readable: boolean, tookMs: number, added: number) => void;
}

export function makeNoticesMetrics(registry: OwnMetrics): NoticesMetrics {
  const registers = [registry];
  const readings = new Counter({
    name: "venuewatch_feed_readings_total",
    help: "Readings of venues' own feeds, by whether the feed could be read.",
    labelNames: ["result"],
    registers,
  });
  for (const result of ["readable", "unreadable"]) readings.inc({ result }, 0);
  const seconds = new Histogram({
    name: "venuewatch_feed_reading_seconds",
    help: "One reading of a feed, with the pauses between its documents.",
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120],
    registers,
  });
  const notices = new Counter({
    name: "venuewatch_notices_total",
    help: "Notices of venues that were new.",
    registers,
  });
  return {
    read(readable, tookMs, added) {
      readings.inc({ result: readable ? "readable" : "unreadable" });
      seconds.observe(tookMs / 1000);
      notices.inc(added);
    },
  };
}
