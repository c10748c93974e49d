import type { Db } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { makeOutage } from "../../../shared/log/outage.js";
import { openDestination, type SealedDestination } from "./destinations.js";
import type { Alert } from "./formats/alert.js";
import type { AlertRequest, Destination } from "./formats/webhook-request.js";
import type { Poster } from "./post.js";
import type { RecentlySent } from "./recently-sent.js";
import type { DeliveryOutcome, DeliveryRules } from "./retry-rules.js";
import type { Sealing } from "./sealing.js";

/** Builds the request for a channel. */
export type AlertWriter = (to: Destination, alert: Alert, sent: { at: Date; deliveryId: number }) => AlertRequest;

/** One claim of any number of deliveries. */
export interface Claim {
  sealing: Sealing;
  /** This machine's monotonic clock before the claim. */
  askedAtMs: number;
  /** The same after the claim. */
  gotAtMs: number;
}

/** The attempts of a dispatcher. */
export interface Attempts {
  start: (claimed: DueDelivery, claim: Claim) => void;
  inProgress: () => number;
  /** Resolves when none is in progress, or at `endMs` by this machine's monotonic clock. */
  allAnswered: (endMs: number) => Promise<void>;
  /** Does the same, and then aborts the rest by closing the poster. */
  close: (endMs: number) => Promise<void>;
}

interface AttemptsOptions {
  poster: Poster;
  write: AlertWriter;
  /** How long a claim lasts. */
  leaseMs: number;
  log: Log;
  recentlySent: RecentlySent;
  localFailures: LocalFailureLog;
  results: AttemptResults;
  /** Called when the result of an attempt was added. */
  onEnded: (claimed: DueDelivery, outcome: DeliveryOutcome) => void;
}

export function makeAttempts(options: AttemptsOptions): Attempts {
  const { poster, write, leaseMs, log, recentlySent, localFailures, results, onEnded } = options;
  let inProgress = 0;
  let onIdle = () => {};

  async function attempt(claimed: DueDelivery, claim: Claim): Promise<void> {
    inProgress += 1;
    if (claimed.taken_over) log.warn("retrying a delivery abandoned by another dispatcher", fieldsOf(claimed));
    recentlySent.leaves(claimed);
    const outcome = await sent(claimed, claim);
    if (outcome.result === "delivered") recentlySent.delivered(claimed);
    results.add(claimed.attempt_id, outcome);
    inProgress -= 1;
    if (inProgress === 0) onIdle();
    onEnded(claimed, outcome);
  }

  /** Faults of our own become an outcome too: a claim without a result would block its channel until it expires. */
  async function sent(claimed: DueDelivery, { sealing, askedAtMs, gotAtMs }: Claim): Promise<DeliveryOutcome> {
    try {
      // receivers refuse timestamps that are five minutes off, so all cores use the database's clock
      const sinceMs = performance.now() - gotAtMs;
      const at = new Date(claimed.claimed_at.getTime() + sinceMs);
      const to = openDestination(claimed, sealing);
      const deliveryId = claimed.delivery_id;
      // After a pause of this machine another dispatcher may have sent this alert and later ones, so it would arrive
      // out of order. A pause may come at any time, so the poster checks this last of all before it sends.
      const leaveByMs = askedAtMs + leaseMs / 2;
      const request = write(to, claimed.body, { at, deliveryId });
      const outcome = await poster.post(request, leaveByMs);
      localFailures.attempted(claimed, outcome);
      return outcome;
    } catch (error) {
      log.error("an alert could not be sent because of a bug", { ...fieldsOf(claimed), error });
      return ownFault((error as Error).message);
    }
  }

  async function allAnswered(endMs: number): Promise<void> {
    if (inProgress === 0) return;
    const answered = new Promise<void>((resolve) => (onIdle = resolve));
    await Promise.race([answered, pauseFor(endMs - performance.now())]);
  }

  return {
    start: (claimed, claim) => void attempt(claimed, claim),
    inProgress: () => inProgress,
    allAnswered,
    async close(endMs) {
      await allAnswered(endMs);
      if (inProgress === 0) return;
      await poster.close();
      await allAnswered(endMs + 500);
    },
  };
}

function ownFault(error: string): DeliveryOutcome {
  return { result: "ours", error, status: null, durationMs: 0, answer: null, retryAfterMs: null };
}

function pauseFor(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** One row of `claim_deliveries.sql`. */
export type ClaimedDelivery = DroppedDelivery | DueDelivery;

interface AnyClaimed {
  delivery_id: number;
  event_id: number;
  kind: string;
  channel_id: number;
  /** Of the incident, or a like name of the line of transfers. */
  slug: string;
}

export interface DroppedDelivery extends AnyClaimed {
  state: "dropped";
  reason: string;
}

interface DueDelivery extends AnyClaimed, SealedDestination {
  state: "due";
  taken_over: boolean;
  attempt_id: number;
  /** By the database's clock. */
  claimed_at: Date;
  body: Alert;
  /** Rows for `makeRecentlySent`; without an incident, the alert is about transfers. */
  event: Record<string, unknown>;
  incident: Record<string, unknown> | null;
}

/** Names a delivery in log lines. */
export function fieldsOf({ delivery_id: delivery, event_id: event, channel_id: channel, kind, slug }: AnyClaimed) {
  return { delivery, event, channel, kind, slug };
}

/** Results of attempts, kept until the database has them. */
interface AttemptResults {
  add: (attemptId: number, outcome: DeliveryOutcome) => void;
  /**
   * Records all results with one statement. When that fails, the next call records them.
   *
   * @returns null when there were none
   */
  record: () => Promise<Settled[] | null>;
}

/** @param random from 0 to 1, for the jitter of the backoff */
export function makeAttemptResults(db: Pick<Db, "file">, rules: DeliveryRules, random: () => number): AttemptResults {
  let ended: { attemptId: number; outcome: DeliveryOutcome; atMs: number }[] = [];
  return {
    add(attemptId, outcome) {
      ended.push({ attemptId, outcome, atMs: performance.now() });
    },
    async record() {
      if (ended.length === 0) return null;
      const settling = ended;
      ended = [];
      const nowMs = performance.now();
      const results = settling.map(({ attemptId, outcome, atMs }) => ({
        attemptId,
        ...outcome,
        agoMs: Math.round(nowMs - atMs),
        spread: 0.8 + 0.4 * random(),
      }));
      try {
        return await db.file<Settled>("settle_or_retry_deliveries", [
          null,
          JSON.stringify(results),
          JSON.stringify(rules),
        ]);
      } catch (error) {
        ended = [...settling, ...ended];
        throw error;
      }
    },
  };
}

/** One row of `settle_or_retry_deliveries.sql`. */
export interface Settled {
  attempt_id: number;
  delivery_id: number;
  event_id: number | null;
  channel_id: number;
  format: Destination["format"];
  state: "due" | "delivered" | "failed";
  failures: number;
  due_at: Date;
  channel_off: "failures" | "gone" | null;
  channel_failures: number;
  /** Since its event was recorded; null where this was not the first attempt, or where the cause is not `event`. */
  first_sent_after_ms: number | null;
  /** The same, until it was delivered; null where it was not. */
  delivered_after_ms: number | null;
}

/** Logs attempts that failed possibly because of this machine or its network. */
export interface LocalFailureLog {
  attempted: (claimed: DueDelivery, outcome: DeliveryOutcome) => void;
  /** A delivery of this channel ended. */
  end: (channel: number) => void;
}

export function makeLocalFailureLog(log: Log): LocalFailureLog {
  const channels = new Set<number>();
  const outage = makeOutage(log, {
    begins: "an alert could not be sent, possibly because of this machine or its network; retrying",
    lasts: "alerts still cannot be sent; retrying",
    over: "alerts can be sent again",
  });

  /**
   * The outage ends with its last channel: reaching one receiver says nothing about another whose name server is
   * broken.
   */
  function end(channel: number): void {
    channels.delete(channel);
    if (channels.size === 0) outage.succeeded();
  }

  return {
    attempted(claimed, { result, retryAfterMs, error: why }) {
      if (result !== "ours") return end(claimed.channel_id);
      // certainly ours, such as a broken kept-alive connection or a pause of this machine: it ends with a retry
      if (retryAfterMs !== null) return log.warn("an alert could not be sent; retrying", { ...fieldsOf(claimed), why });
      channels.add(claimed.channel_id);
      outage.failed("attempts", { ...fieldsOf(claimed), why });
    },
    end,
  };
}
