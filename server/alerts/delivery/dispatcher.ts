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
  /** Null where there is no key: alerts are kept in line for each channel, and none is sent. */
  sealing: Sealing | null;
  /** Writes what a channel is sent. */
  write: (to: Destination, alert: Alert, sent: { at: Date; deliveryId: number }) => WebhookRequest;
  log: Log;
  metrics?: AlertMetrics | undefined;
  rules?: DeliveryRules;
  /** From 0 to 1; pauses before the next attempt are spread by it. */
  random?: () => number;
}

export interface Dispatcher {
  /** How it signs what it claims. */
  holder: string;
  /** There may be something in the outbox. */
  wake: () => void;
  /**
   * Claims nothing more, and resolves when what is on its way has been answered and noted. After some seconds the rest
   * is cut, by closing the poster; whoever claims it next sends it at once.
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
  /** Rows, as they are remembered for a while; see `makeRecentlySent`. */
  event: Record<string, unknown>;
  incident: Record<string, unknown>;
}

/** What is on its way. */
interface Sending {
  claimed: Extract<Claimed, { state: "due" }>;
  sealing: Sealing;
  /** Before it was claimed, by this machine's monotonic clock. */
  askedAtMs: number;
  /** After it. */
  gotAtMs: number;
}

interface Ended {
  attemptId: number;
  outcome: DeliveryOutcome;
  atMs: number;
}

/** Of the outbox at once, some tenths of a second: in a storm what is in line is sent in between. */
const deliveriesAtOnce = 10_000;

/**
 * How much longer the looks are apart while nothing is due soon. The engine of this core says when it has written
 * something; another core sends what its own has.
 */
const idleLookFactor = 4;

/** After a turn that failed, which is when the database does. */
const againMs = 1_000;

/** A closing has ten seconds for all of core, of which the first ones get half of what is left. */
const patienceMs = 3_500;

/**
 * Sends what stands in the outbox to every channel that it concerns, each at least once, in the order in which it
 * happened. Any number of dispatchers may run. All that they know of each other is in the database.
 *
 * What one turn does stands in one statement each: note what was answered, put what is new in line, claim what is due.
 * Answers that come meanwhile are noted together in the next turn, so the more is to be done, the more is done at once.
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
  let underWay = 0;
  let closing = false;
  let mayHaveNew = true;
  /** Some channel may be free for what is first in its line. */
  let mayBeDue = false;
  let lookAtMs = 0;
  let sweepAtMs = 0;
  let unreadable: string | null = null;
  const recentlySent = makeRecentlySent();
  /** Of the database, as it was last seen; null: never. */
  let timeline: string | null = null;
  let noneUnderWay = () => {};
  const withoutWayOut = new Set<number>();
  const wayOut = makeOutage(log, {
    begun: "an alert could not be sent, maybe for a fault of this machine or its network, and is sent again",
    lasts: "alerts still cannot be sent, and are sent again",
    over: "alerts can be sent again",
  });

  const turning = startLoop(async () => {
    try {
      await settle();
      if (mayHaveNew || performance.now() >= lookAtMs) await look();
      if (performance.now() >= sweepAtMs) await sweep();
      if (mayBeDue && !closing) await claim();
      return Math.max(0, Math.ceil(lookAtMs - performance.now()));
    } catch (error) {
      mayBeDue = true;
      if (!countsAsAway(log, "turns of the dispatcher", error))
        log.error("could not go on with alerts; the next turn tries again", {
          stack: stackOf(error),
        });
      return againMs;
    }
  });

  /** Once in a while, and whenever somebody says that there is something new. */
  async function look(): Promise<void> {
    mayHaveNew = false;
    lookWithin(rules.look_ms);
    const [row] = await db.file<Found>("alerts_due");
    const { waiting, due_in_ms, timeline: current } = row!;
    if (current !== timeline) await adoptTimeline(current);
    else if (!waiting && due_in_ms !== 0) lookWithin(untilNextLookMs(due_in_ms, rules.look_ms));
    if (due_in_ms === 0) mayBeDue = true;
    if (waiting) await putInLine();
  }

  function lookWithin(ms: number): void {
    lookAtMs = performance.now() + ms;
  }

  async function putInLine(): Promise<void> {
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
   * What a former primary has sent by us and the database does not know is written again, before anything else is
   * decided or sent.
   */
  async function adoptTimeline(current: string): Promise<void> {
    if (timeline !== null) {
      const { restored, closed, skipped } = await db.transaction(async (tx) => {
        await tx.file("adopt_timeline");
        return recentlySent.restore(tx);
      });
      log.warn("the database was failed over", {
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
    await endWhatIsNotSent();
    await tellUnreadable();
  }

  /** Once, until it changes. */
  async function tellUnreadable(): Promise<void> {
    const head = sealing?.head ?? Buffer.alloc(0);
    const [row] = await db.file<{ channels: number[] | null }>("unreadable_channels", [head, rules.lease_ms]);
    const channels = row!.channels?.join(", ") ?? null;
    if (channels !== null && channels !== unreadable)
      log.error(
        `alerts wait in line and are not sent: ${sealing ? "the CHANNEL_KEY of this core is not the one" : "CHANNEL_KEY is not set for this core; set the one"} with which these channels were added`,
        { channels },
      );
    unreadable = channels;
  }

  async function endWhatIsNotSent(): Promise<void> {
    const rows = await db.file<EndedUnsent>("end_deliveries", [null]);
    for (const { channel_id: channel, state, deliveries } of rows)
      log.warn("alerts were not sent, see delivery list", {
        channel,
        state,
        deliveries,
      });
  }

  async function claim(): Promise<void> {
    const free = rules.at_once - underWay;
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
      if (claimed.state === "dropped") tellDropped(claimed);
      else void send({ claimed, sealing, askedAtMs, gotAtMs });
    }
    // the next in those lines may be due
    mayBeDue = rows.some(({ state }) => state === "dropped");
    if (mayBeDue) turning.wake();
  }

  async function send(sending: Sending): Promise<void> {
    const { claimed } = sending;
    underWay += 1;
    if (claimed.taken_over) log.warn("sends again what another did not bring to an end", told(claimed));
    recentlySent.leaves(claimed);
    const outcome = await sent(sending);
    if (outcome.result === "delivered") recentlySent.delivered(claimed);
    ended.push({
      attemptId: claimed.attempt_id,
      outcome,
      atMs: performance.now(),
    });
    underWay -= 1;
    if (underWay === 0) noneUnderWay();
    metrics?.sent(claimed.format, outcome);
    turning.wake();
  }

  /**
   * A fault that is certainly ours is over at the next attempt: a kept connection that broke, or a pause of this
   * machine.
   */
  function tellWay(claimed: Sending["claimed"], outcome: DeliveryOutcome): void {
    const { result, retryAfterMs, error: why } = outcome;
    if (result !== "ours") return hasWayOut(claimed.channel_id);
    if (retryAfterMs !== null)
      return log.warn("an alert could not be sent, and is sent again", {
        ...told(claimed),
        why,
      });
    withoutWayOut.add(claimed.channel_id);
    wayOut.failed("attempts", { ...told(claimed), why });
  }

  /** That one receiver is reached says nothing about another whose name server is broken. */
  function hasWayOut(channel: number): void {
    withoutWayOut.delete(channel);
    if (withoutWayOut.size === 0) wayOut.succeeded();
  }

  /**
   * Whatever goes wrong on our side is an outcome too: a claim that nobody ends would keep its channel waiting for the
   * lease.
   */
  async function sent({ claimed, sealing, askedAtMs, gotAtMs }: Sending): Promise<DeliveryOutcome> {
    try {
      // receivers refuse what is five minutes off: all go by the one clock of the database
      const sinceMs = performance.now() - gotAtMs;
      const at = new Date(claimed.claimed_at.getTime() + sinceMs);
      const to = openDestination(claimed, sealing);
      const deliveryId = claimed.delivery_id;
      // After a pause of this machine another may have sent it and what comes after it: late, it would come out of
      // order. A pause may come at any time, so that this is looked at when there is nothing left to do but to send it.
      const leaveByMs = askedAtMs + rules.lease_ms / 2;
      const letter = write(to, claimed.body, { at, deliveryId });
      const outcome = await poster.post(letter, leaveByMs);
      tellWay(claimed, outcome);
      return outcome;
    } catch (error) {
      log.error("an alert could not be sent for a fault of our own", {
        ...told(claimed),
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
    // a channel that rests now is free again soon
    lookWithin(rules.look_ms);
    for (const row of rows) tellSettled(row);
    if (rows.some(({ channel_off: off }) => off !== null)) await endWhatIsNotSent();
  }

  function tellDropped({ reason, ...claimed }: Claimed & { reason: string }) {
    log.warn("an alert was dropped", { ...told(claimed), reason });
  }

  function tellSettled(row: Settled): void {
    metrics?.settled(row);
    const { delivery_id: delivery, channel_id: channel, state, failures } = row;
    if (state === "failed")
      log.warn("an alert could not be delivered", {
        delivery,
        channel,
        failures,
      });
    if (state !== "due") hasWayOut(channel);
    if (row.channel_off === null) return;
    const why = {
      failures: `${row.channel_failures} failures in a row`,
      gone: "the receiver said that it is gone (410)",
    }[row.channel_off];
    log.error("a channel was switched off; nothing is sent to it any more", {
      channel,
      why,
    });
  }

  async function allAnswered(endMs: number): Promise<void> {
    if (underWay === 0) return;
    const answered = new Promise<void>((resolve) => (noneUnderWay = resolve));
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
      const endMs = performance.now() + patienceMs;
      // meanwhile what is answered is noted, turn by turn
      await allAnswered(endMs);
      await turning.end();
      // of what the last turn claimed
      await allAnswered(endMs);
      if (underWay > 0) {
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

function untilNextLookMs(dueInMs: number | null, lookMs: number): number {
  const longestMs = lookMs * idleLookFactor;
  return Math.max(lookMs, Math.min(dueInMs ?? longestMs, longestMs));
}

/** One row of `expand_alerts.sql`. */
interface Expanded {
  events: number;
  deliveries: number;
  skipped: number;
  dropped: number;
  /** Not all that waited was put in line. */
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

function told({
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
