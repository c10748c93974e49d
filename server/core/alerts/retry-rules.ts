import type { Format } from "./formats/webhook-request.js";

/**
 * The constants of delivery, each with its reason. docs/receiving.md has those that a receiver must know.
 */
export interface DeliveryRules {
  /** Failed attempts after which a delivery has failed (the contract). */
  attempts: number;
  /** Before the second attempt; a receiver that restarts is back within seconds. */
  backoff_ms: number;
  /**
   * 5, 20, 80 and 320 s, each up to a fifth longer, and ten seconds for each attempt: later alerts of the channel wait
   * at most nine and a half minutes.
   */
  backoff_factor: number;
  /** The longest wait that a receiver may ask for: its other alerts wait meanwhile. */
  retry_after_ms: number;
  /** Backoff after what may be our own fault, such as no route, which may be over at any time. */
  own_fault_ms: number;
  /** A fault that lasts longer counts against the receiver, as does one while other receivers are reached. */
  own_fault_for_ms: number;
  /** Failures in a row, across alerts, after which the channel is switched off (the contract). */
  switch_off_failures: number;
  /**
   * How long a claim lasts: well over the ten seconds that an attempt may take, so only a dispatcher that died loses
   * it.
   */
  lease_ms: number;
  /**
   * Concurrent attempts of one dispatcher; each channel has at most one. One costs a socket and some kilobytes.
   */
  at_once: number;
  /**
   * Pause between two alerts of a channel. By their documentation, chat services accept one message a second, the
   * paging service 120 a minute, Telegram 20 a minute in a group, and Teams four a second. ntfy takes 60 at once and
   * then one in five seconds: a retry comes in time for that. Discord names no number, and says how long to wait when
   * it refuses. For servers of e-mails and an operator's own receivers, a second is polite.
   */
  pace_ms: Record<Format, number>;
  /**
   * How often the outbox is polled without a wake-up: another core's engine may have written to it. Up to four times
   * longer while nothing is due.
   */
  look_ms: number;
  /** How often deliveries that will not be sent are ended. It is not urgent. */
  sweep_ms: number;
}

export const deliveryRules: DeliveryRules = {
  attempts: 5,
  backoff_ms: 5_000,
  backoff_factor: 4,
  retry_after_ms: 10 * 60_000,
  own_fault_ms: 30_000,
  own_fault_for_ms: 60 * 60_000,
  switch_off_failures: 10,
  lease_ms: 30_000,
  at_once: 500,
  pace_ms: {
    ...{ native: 0, chat: 1_000, paging: 500, telegram: 3_000, discord: 1_000, ntfy: 1_000 },
    ...{ teams: 1_000, template: 1_000, mail: 1_000 },
  },
  look_ms: 250,
  sweep_ms: 5_000,
};

/** The result of one attempt. */
export interface DeliveryOutcome {
  /**
   * `delivered`: a 2xx status in time, followed by the whole answer or by more than we read; SMTP's are like HTTP's in
   * that. `refused`: another status.
   * `timeout`: the answer was incomplete at the deadline; this includes a 2xx whose body trickles or stops, as the
   * receiver may well have failed after the status. `unreachable`: no answer, a broken one, or no TLS. `unsafe`:
   * nothing was sent, because the address is not allowed. `ours`: possibly our own fault, not the receiver's.
   */
  result: "delivered" | "refused" | "timeout" | "unreachable" | "unsafe" | "ours";
  /** Of HTTP, or of SMTP for an e-mail; null where no status came. */
  status: number | null;
  /** One line, which shows only the host of the request; null when delivered. */
  error: string | null;
  durationMs: number;
  /** Its start: at most 1,000 characters, without control characters except line ends; null where there is none. */
  answer: string | null;
  /**
   * How long a receiver that refused asked us to wait, at most ten minutes; null where it did not ask. With `ours`: 0
   * where the fault is certainly ours, and null where it may still be the receiver's, such as its name server or
   * network.
   */
  retryAfterMs: number | null;
  /** The receiver says in its own way what others say by 410: it is gone for good. */
  isGone?: boolean;
}

/** An outcome without its duration, which the caller adds; missing fields are null. */
export type Ending = Pick<DeliveryOutcome, "result"> & Partial<Omit<DeliveryOutcome, "durationMs">>;
