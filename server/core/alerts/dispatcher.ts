import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { countsAsAway } from "../../../shared/database/fault.js";
import type { Db, Pool } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { startLoop } from "../../../shared/process/loop.js";
import { stackOf } from "../../../shared/process/user-error.js";
import type { AlertMetrics } from "./alert-metrics.js";
import {
  type AlertWriter,
  type ClaimedDelivery,
  fieldsOf,
  type LocalFailureLog,
  makeAttemptResults,
  makeAttempts,
  makeLocalFailureLog,
  type Settled,
} from "./attempts.js";
import type { Poster } from "./post.js";
import { makeRecentlySent, type RecentlySent } from "./recently-sent.js";
import { type DeliveryRules, deliveryRules } from "./retry-rules.js";
import type { Sealing } from "./sealing.js";

export interface DispatcherOptions {
  db: Pick<Pool, "file" | "transaction">;
  poster: Poster;
  /** Null without a key: deliveries are made and wait, but none is sent. */
  sealing: Sealing | null;
  write: AlertWriter;
  log: Log;
  metrics?: AlertMetrics | undefined;
  rules?: DeliveryRules;
  /** From 0 to 1, for the jitter of the backoff. */
  random?: () => number;
}

export interface Dispatcher {
  /** Identifies this dispatcher in its claims. */
  holder: string;
  /** The outbox may have a new event. */
  wake: () => void;
  /**
   * Stops claiming, and resolves when all attempts in progress are answered and recorded. After some seconds it aborts
   * the rest by closing the poster; the next dispatcher that claims them retries them at once.
   */
  close: () => Promise<void>;
}

/**
 * Deliveries that one statement makes, in some tenths of a second; in a storm, sending continues between statements.
 */
const deliveriesAtOnce = 10_000;

/**
 * How much longer the polling interval is while nothing is due soon. This core's engine wakes the dispatcher; events of
 * another core's engine are dispatched by that core.
 */
const idleLookFactor = 4;

/** After a failed turn, usually because of the database. */
const retryMs = 1_000;

/** Core shuts down within ten seconds, and each of the first closings gets half of the time left. */
const closeWithinMs = 3_500;

/**
 * Sends the events of the outbox to every channel whose filter matches, at least once each, and in order for a channel.
 * Any number of dispatchers may run; they coordinate through the database only.
 *
 * A turn has one statement for each step: record results, turn new events into deliveries, claim due deliveries.
 * Results that arrive meanwhile are recorded together in the next turn, so batches grow with the load.
 */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, poster, sealing, write, log, metrics, rules = deliveryRules, random = Math.random } = options;
  const holder = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  let closing = false;
  let mayHaveNew = true;
  /** Some channel may be ready for its first waiting delivery. */
  let mayBeDue = false;
  let pollAtMs = 0;
  let sweepAtMs = 0;
  const recentlySent = makeRecentlySent();
  const adoptTimeline = followTimeline(db, recentlySent, log);
  const localFailures = makeLocalFailureLog(log);
  const results = makeAttemptResults(db, rules, random);
  const logUnreadable = watchUnreadable(db, sealing, rules, log);
  const attempts = makeAttempts({
    ...{ poster, write, leaseMs: rules.lease_ms, log, recentlySent, localFailures, results },
    onEnded({ format }, outcome) {
      metrics?.sent(format, outcome);
      turning.wake();
    },
  });

  const turning = startLoop(async () => {
    try {
      await settle();
      if (mayHaveNew || performance.now() >= pollAtMs) await poll();
      if (performance.now() >= sweepAtMs) await sweep();
      if (mayBeDue && !closing) await claim();
      return Math.max(0, Math.ceil(pollAtMs - performance.now()));
    } catch (error) {
      mayBeDue = true;
      if (!countsAsAway(log, "turns of the dispatcher", error))
        log.error("a turn of the dispatcher failed; retrying", { stack: stackOf(error) });
      return retryMs;
    }
  });

  /** At intervals, and after each wake-up. */
  async function poll(): Promise<void> {
    mayHaveNew = false;
    pollWithin(rules.look_ms);
    const [row] = await db.file<{ waiting: boolean; due_in_ms: number | null; timeline: string }>("alerts_due");
    const { waiting, due_in_ms, timeline } = row!;
    const isNew = await adoptTimeline(timeline);
    if (!isNew && !waiting && due_in_ms !== 0) pollWithin(nextPollMs(due_in_ms, rules.look_ms));
    if (due_in_ms === 0) mayBeDue = true;
    if (waiting) await expandEvents();
  }

  function pollWithin(ms: number): void {
    pollAtMs = performance.now() + ms;
  }

  async function expandEvents(): Promise<void> {
    const { events, deliveries, skipped, dropped, more } = await expandNext(db);
    if (deliveries > 0) mayBeDue = true;
    if (deliveries + dropped > 0) log.info("alerts", { events, deliveries, skipped, dropped });
    if (!more) return;
    mayHaveNew = true;
    turning.wake();
  }

  async function sweep(): Promise<void> {
    sweepAtMs = performance.now() + rules.sweep_ms;
    await endUnsent(db, log);
    await logUnreadable();
  }

  async function claim(): Promise<void> {
    const free = rules.at_once - attempts.inProgress();
    if (sealing === null || free <= 0) return;
    const askedAtMs = performance.now();
    const values = [null, holder, rules.lease_ms, free, JSON.stringify(rules.pace_ms), sealing.head];
    const rows = await db.file<ClaimedDelivery>("claim_deliveries", values);
    const gotAtMs = performance.now();
    for (const claimed of rows) {
      if (claimed.state === "due") attempts.start(claimed, { sealing, askedAtMs, gotAtMs });
      else log.warn("an alert was dropped", { ...fieldsOf(claimed), reason: claimed.reason });
    }
    // after a dropped delivery the channel's next may be due
    mayBeDue = rows.some(({ state }) => state === "dropped");
    if (mayBeDue) turning.wake();
  }

  async function settle(): Promise<void> {
    const rows = await results.record();
    if (rows === null) return;
    mayBeDue = true;
    // a channel that pauses now is ready again soon
    pollWithin(rules.look_ms);
    for (const row of rows) {
      metrics?.settled(row);
      logSettled(row, log, localFailures);
    }
    if (rows.some(({ channel_off: off }) => off !== null)) await endUnsent(db, log);
  }

  return {
    holder,
    wake() {
      mayHaveNew = true;
      turning.wake();
    },
    async close() {
      closing = true;
      const endMs = performance.now() + closeWithinMs;
      // turns continue meanwhile and record results
      await attempts.allAnswered(endMs);
      await turning.end();
      // including those that the last turn claimed
      await attempts.close(endMs);
      await settle();
    },
  };
}

function nextPollMs(dueInMs: number | null, lookMs: number): number {
  const longestMs = lookMs * idleLookFactor;
  return Math.max(lookMs, Math.min(dueInMs ?? longestMs, longestMs));
}

/** One row of `expand_alerts.sql`. */
interface Expanded {
  events: number;
  deliveries: number;
  skipped: number;
  dropped: number;
  /** Events are left in the outbox. */
  more: boolean;
}

const nothingExpanded: Expanded = { events: 0, deliveries: 0, skipped: 0, dropped: 0, more: false };

async function expandNext(db: DispatcherOptions["db"]): Promise<Expanded> {
  return db.transaction(async (tx) => {
    const [outbox] = await tx.file<{ held: boolean }>("hold_outbox");
    if (!outbox!.held) return nothingExpanded;
    const overrun = await tx.file("send_overrun", [null]);
    const [row] = await tx.file<Expanded>("expand_alerts", [null, deliveriesAtOnce]);
    return { ...row!, deliveries: row!.deliveries + overrun.length };
  });
}

function logSettled(row: Settled, log: Log, localFailures: LocalFailureLog): void {
  const { delivery_id: delivery, channel_id: channel, state, failures } = row;
  if (state === "failed") log.warn("an alert could not be delivered", { delivery, channel, failures });
  if (state !== "due") localFailures.end(channel);
  if (row.channel_off === null) return;
  const why = {
    failures: `${row.channel_failures} failures in a row`,
    gone: "the receiver answered that it is gone",
  }[row.channel_off];
  log.error("a channel was switched off and gets no more alerts", { channel, why });
}

/**
 * Returns a function that takes the database's current timeline and resolves with whether it is new. After a failover,
 * it writes back what this dispatcher sent on the former primary and the new one lost: call it before anything else is
 * decided or sent.
 */
function followTimeline(db: Pick<Pool, "transaction">, recentlySent: RecentlySent, log: Log) {
  /** The last one seen; null: none yet. */
  let timeline: string | null = null;
  return async (current: string): Promise<boolean> => {
    if (current === timeline) return false;
    if (timeline !== null) {
      const { restored, closed, skipped } = await db.transaction(async (tx) => {
        await tx.file("adopt_timeline");
        return recentlySent.restore(tx);
      });
      log.warn("the database failed over", {
        before: timeline,
        timeline: current,
        ...(restored.length > 0 && { restored }),
        ...(closed.length > 0 && { closed }),
        ...(skipped.length > 0 && { skipped }),
      });
    }
    timeline = current;
    return true;
  };
}

/** Ends deliveries that will not be sent. */
async function endUnsent(db: Pick<Db, "file">, log: Log): Promise<void> {
  const rows = await db.file<{ channel_id: number; state: string; deliveries: number }>("end_deliveries", [null]);
  for (const { channel_id: channel, state, deliveries } of rows)
    log.warn("alerts were not sent; see venuewatch delivery list", { channel, state, deliveries });
}

/** Returns a function that logs which channels wait for a core with another key. It logs only changes. */
function watchUnreadable(db: Pick<Db, "file">, sealing: Sealing | null, rules: DeliveryRules, log: Log) {
  let unreadable: string | null = null;
  return async (): Promise<void> => {
    const head = sealing?.head ?? Buffer.alloc(0);
    const [row] = await db.file<{ channels: number[] | null }>("unreadable_channels", [head, rules.lease_ms]);
    const channels = row!.channels?.join(", ") ?? null;
    if (channels !== null && channels !== unreadable)
      log.error(
        `deliveries wait unsent: ${sealing ? "this core's CHANNEL_KEY is not the one" : "CHANNEL_KEY is not set for this core; set the one"} with which these channels were added`,
        { channels },
      );
    unreadable = channels;
  };
}
