import type { Log } from "../../../shared/log/log.js";
import { openDestination } from "../channels/open-destination.js";
import type { Sealing } from "../channels/sealing.js";
import type { Alert } from "../formats/alert.js";
import type { Destination, WebhookRequest } from "../formats/webhook-request.js";
import { type DueDelivery, fieldsOf } from "./claimed-delivery.js";
import type { DeliveryOutcome } from "./attempt-outcome.js";
import type { LocalFailureLog } from "./local-failure-log.js";
import type { Poster } from "./post.js";
import type { RecentlySent } from "./recently-sent.js";
import type { AttemptResults } from "./attempt-results.js";

/** Builds the request for a channel. */
export type AlertWriter = (to: Destination, alert: Alert, sent: { at: Date; deliveryId: number }) => WebhookRequest;

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
    await Promise.race([answered, pause(endMs - performance.now())]);
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

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
