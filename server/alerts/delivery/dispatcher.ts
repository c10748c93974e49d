import { type Settled } from "./settled.js";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { countsAsAway } from "../../../shared/database/away.js";
import type { Pool } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { startLoop } from "../../../shared/process/loop.js";
import { makeOutage } from "../../../shared/log/outage.js";
import { stackOf } from "../../../shared/process/user-error.js";
import type { Alert } from "../formats/alert.js";
import type { Destination, WebhookRequest } from "../formats/webhook-request.js";
import type { AlertMetrics } from "./metrics.js";
import { makeRecentlySent } from "./recently-sent.js";
import { openDestination, type SealedDestination } from "../channels/open-destination.js";
import type { Poster } from "./post.js";
import type { DeliveryOutcome } from "./outcome.js";
import { type DeliveryRules, deliveryRules } from "./rules.js";
import type { Sealing } from "../channels/sealing.js";

export interface DispatcherOptions {
  db: Pick<Pool, "file" | "transaction">;
  poster: Poster;
  /** Null without a key: deliveries are made and wait, none is sent. */
  sealing: Sealing | null;
  /** Builds the request for a channel. */
  write: (to: Destination, alert: Alert, sent: { at: Date; deliveryId: number }) => WebhookRequest;
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

/** One row of `claim_deliveries.sql`. */
type Claimed = {
  delivery_id: number;
  event_id: number;
  kind: string;
  channel_id: number;
  slug: string;
} & ({ state: "dropped"; reason: string } | ({ state: "due" } & ToSend));

interface ToSend extends SealedDestination {
  taken_over: boolean;
  attempt_id: number;
  /** By the database's clock. */
  claimed_at: Date;
  body: Alert;
  /** Rows for `makeRecentlySent`. */
  event: Record<string, unknown>;
  incident: Record<string, unknown>;
}

/** An attempt in progress. */
interface Sending {
  claimed: Extract<Claimed, { state: "due" }>;
  sealing: Sealing;
  /** This machine's monotonic clock before the claim. */
  askedAtMs: number;
  /** The same after the claim. */
  gotAtMs: number;
}

interface Ended {
  attemptId: number;
  outcome: DeliveryOutcome;
  atMs: number;
}

/** Deliveries made by one statement, in some tenths of a second: in a storm, sending continues in between. */
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
export function startDispatcher({
  db,
  poster,
  sealing,
  write,
  log,
  metrics,
  rules = deliveryRules,
  random = Math.random,
}: DispatcherOptions): Dispatcher {
  const holder = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  let ended: Ended[] = [];
  let inProgress = 0;
  let closing = false;
  let mayHaveNew = true;
  /** Some channel may be ready for its first waiting delivery. */
  let mayBeDue = false;
  let pollAtMs = 0;
  let sweepAtMs = 0;
  let unreadable: string | null = null;
  const recentlySent = makeRecentlySent();
  /** The database's timeline, as last seen; null: not yet. */
  let timeline: string | null = null;
  let onIdle = () => {};
  const channelsWithOwnFault = new Set<number>();
  const ownFaults = makeOutage(log, {
    begun: "an alert could not be sent, possibly because of this machine or its network; retrying",
    lasts: "alerts still cannot be sent; retrying",
    over: "alerts can be sent again",
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
        log.error("a turn of the dispatcher failed; retrying", {
          stack: stackOf(error),
        });
      return retryMs;
    }
  });

  /** At intervals, and after each wake-up. */
  async function poll(): Promise<void> {
    mayHaveNew = false;
    pollWithin(rules.look_ms);
    const [row] = await db.file<Found>("alerts_due");
    const { waiting, due_in_ms, timeline: current } = row!;
    if (current !== timeline) await adoptTimeline(current);
    else if (!waiting && due_in_ms !== 0) pollWithin(nextPollMs(due_in_ms, rules.look_ms));
    if (due_in_ms === 0) mayBeDue = true;
    if (waiting) await expandEvents();
  }

  function pollWithin(ms: number): void {
    pollAtMs = performance.now() + ms;
  }

  async function expandEvents(): Promise<void> {
    const { events, deliveries, skipped, dropped, more } = await expand();
    if (deliveries > 0) mayBeDue = true;
    if (deliveries + dropped > 0) log.info("alerts", { events, deliveries, skipped, dropped });
    if (!more) return;
    mayHaveNew = true;
    turning.wake();
  }

  async function expand(): Promise<Expanded> {
    return db.transaction(async (tx) => {
      const [outbox] = await tx.file<{ held: boolean }>("hold_outbox");
      if (!outbox!.held) return nothing;
      const [row] = await tx.file<Expanded>("expand_alerts", [null, deliveriesAtOnce]);
      return row!;
    });
  }

  /**
   * Writes back what this dispatcher sent on the former primary and the new one lost, before anything else is decided
   * or sent.
   */
  async function adoptTimeline(current: string): Promise<void> {
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
  }

  async function sweep(): Promise<void> {
    sweepAtMs = performance.now() + rules.sweep_ms;
    await endUnsent();
    await logUnreadable();
  }

  /** Logs only changes. */
  async function logUnreadable(): Promise<void> {
    const head = sealing?.head ?? Buffer.alloc(0);
    const [row] = await db.file<{ channels: number[] | null }>("unreadable_channels", [head, rules.lease_ms]);
    const channels = row!.channels?.join(", ") ?? null;
    if (channels !== null && channels !== unreadable)
      log.error(
        `deliveries wait unsent: ${sealing ? "this core's CHANNEL_KEY is not the one" : "CHANNEL_KEY is not set for this core; set the one"} with which these channels were added`,
        { channels },
      );
    unreadable = channels;
  }

  async function endUnsent(): Promise<void> {
    const rows = await db.file<EndedUnsent>("end_deliveries", [null]);
    for (const { channel_id: channel, state, deliveries } of rows)
      log.warn("alerts were not sent; see venuewatch delivery list", {
        channel,
        state,
        deliveries,
      });
  }

  async function claim(): Promise<void> {
    const free = rules.at_once - inProgress;
    if (sealing === null || free <= 0) return;
    const askedAtMs = performance.now();
    const rows = await db.file<Claimed>("claim_deliveries", [
      null,
      holder,
      rules.lease_ms,
      free,
      JSON.stringify(rules.pace_ms),
      sealing.head,
    ]);
    const gotAtMs = performance.now();
    for (const claimed of rows) {
      if (claimed.state === "dropped") logDropped(claimed);
      else void send({ claimed, sealing, askedAtMs, gotAtMs });
    }
    // after a dropped delivery the channel's next may be due
    mayBeDue = rows.some(({ state }) => state === "dropped");
    if (mayBeDue) turning.wake();
  }

  async function send(sending: Sending): Promise<void> {
    const { claimed } = sending;
    inProgress += 1;
    if (claimed.taken_over) log.warn("retrying a delivery abandoned by another dispatcher", fieldsOf(claimed));
    recentlySent.leaves(claimed);
    const outcome = await sent(sending);
    if (outcome.result === "delivered") recentlySent.delivered(claimed);
    ended.push({
      attemptId: claimed.attempt_id,
      outcome,
      atMs: performance.now(),
    });
    inProgress -= 1;
    if (inProgress === 0) onIdle();
    metrics?.sent(claimed.format, outcome);
    turning.wake();
  }

  /**
   * A fault that is certainly ours, such as a broken kept-alive connection or a pause of this machine, ends with a
   * retry.
   */
  function logOwnFault(claimed: Sending["claimed"], outcome: DeliveryOutcome): void {
    const { result, retryAfterMs, error: why } = outcome;
    if (result !== "ours") return endOwnFault(claimed.channel_id);
    if (retryAfterMs !== null)
      return log.warn("an alert could not be sent; retrying", {
        ...fieldsOf(claimed),
        why,
      });
    channelsWithOwnFault.add(claimed.channel_id);
    ownFaults.failed("attempts", { ...fieldsOf(claimed), why });
  }

  /**
   * The outage ends with its last channel: reaching one receiver says nothing about another whose name server is
   * broken.
   */
  function endOwnFault(channel: number): void {
    channelsWithOwnFault.delete(channel);
    if (channelsWithOwnFault.size === 0) ownFaults.succeeded();
  }

  /**
   * Faults of our own become an outcome too: a claim without a result would block its channel until it expires.
   */
  async function sent({ claimed, sealing, askedAtMs, gotAtMs }: Sending): Promise<DeliveryOutcome> {
    try {
      // receivers refuse timestamps that are five minutes off, so all cores use the database's clock
      const sinceMs = performance.now() - gotAtMs;
      const at = new Date(claimed.claimed_at.getTime() + sinceMs);
      const to = openDestination(claimed, sealing);
      const deliveryId = claimed.delivery_id;
      // After a pause of this machine another dispatcher may have sent this alert and later ones, so it would arrive
      // out of order. A pause may come at any time, so the poster checks this last of all before it sends.
      const leaveByMs = askedAtMs + rules.lease_ms / 2;
      const request = write(to, claimed.body, { at, deliveryId });
      const outcome = await poster.post(request, leaveByMs);
      logOwnFault(claimed, outcome);
      return outcome;
    } catch (error) {
      log.error("an alert could not be sent because of a bug", {
        ...fieldsOf(claimed),
        error,
      });
      return ownFault((error as Error).message);
    }
  }

  async function settle(): Promise<void> {
    if (ended.length === 0) return;
    const settling = ended;
    ended = [];
    const nowMs = performance.now();
    const results = settling.map(({ attemptId, outcome, atMs }) => ({
      attemptId,
      ...outcome,
      agoMs: Math.round(nowMs - atMs),
      spread: 0.8 + 0.4 * random(),
    }));
    let rows: Settled[];
    try {
      rows = await db.file<Settled>("settle_deliveries", [null, JSON.stringify(results), JSON.stringify(rules)]);
    } catch (error) {
      ended = [...settling, ...ended];
      throw error;
    }
    mayBeDue = true;
    // a channel that pauses now is ready again soon
    pollWithin(rules.look_ms);
    for (const row of rows) logSettled(row);
    if (rows.some(({ channel_off: off }) => off !== null)) await endUnsent();
  }

  function logDropped({ reason, ...claimed }: Claimed & { reason: string }) {
    log.warn("an alert was dropped", { ...fieldsOf(claimed), reason });
  }

  function logSettled(row: Settled): void {
    metrics?.settled(row);
    const { delivery_id: delivery, channel_id: channel, state, failures } = row;
    if (state === "failed")
      log.warn("an alert could not be delivered", {
        delivery,
        channel,
        failures,
      });
    if (state !== "due") endOwnFault(channel);
    if (row.channel_off === null) return;
    const why = {
      failures: `${row.channel_failures} failures in a row`,
      gone: "the receiver answered 410, gone",
    }[row.channel_off];
    log.error("a channel was switched off and gets no more alerts", {
      channel,
      why,
    });
  }

  async function allAnswered(endMs: number): Promise<void> {
    if (inProgress === 0) return;
    const answered = new Promise<void>((resolve) => (onIdle = resolve));
    await Promise.race([answered, pause(endMs - performance.now())]);
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
      await allAnswered(endMs);
      await turning.end();
      // for claims of the last turn
      await allAnswered(endMs);
      if (inProgress > 0) {
        await poster.close();
        await allAnswered(endMs + 500);
      }
      await settle();
    },
  };
}

/** One row of `alerts_due.sql`. */
interface Found {
  waiting: boolean;
  due_in_ms: number | null;
  timeline: string;
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

const nothing: Expanded = {
  events: 0,
  deliveries: 0,
  skipped: 0,
  dropped: 0,
  more: false,
};

interface EndedUnsent {
  channel_id: number;
  state: string;
  deliveries: number;
}

function ownFault(error: string): DeliveryOutcome {
  return {
    result: "ours",
    error,
    status: null,
    durationMs: 0,
    answer: null,
    retryAfterMs: null,
  };
}

function fieldsOf({
  delivery_id: delivery,
  event_id: event,
  channel_id: channel,
  kind,
  slug,
}: Pick<Claimed, "delivery_id" | "event_id" | "channel_id" | "kind" | "slug">) {
  return { delivery, event, channel, kind, slug };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
