/**
 * The numbers by which alerts are delivered, each with its reason. What a subscriber has to know of them stands in
 * docs/receiving.md.
 */
export interface DeliveryRules {
  /** Attempts that a receiver may fail until a delivery has failed (the contract). */
  attempts: number;
  /** Before the second attempt; a receiver that is started anew is there again within seconds. */
  backoff_ms: number;
  /**
   * 5, 20, 80 and 320 s, each up to a fifth longer, and ten seconds for each attempt: nine and a half minutes at the
   * most, which what is behind it waits.
   */
  backoff_factor: number;
  /** A receiver may ask for more time, up to this: others of its alerts wait meanwhile. */
  retry_after_ms: number;
  /** After what may be a fault of our own, such as no route: it may be over at any time. */
  own_fault_ms: number;
  /** A fault that lasts for longer is held against the receiver, as is one while other receivers are reached. */
  own_fault_for_ms: number;
  /** In a row, of whichever alerts; then the channel is switched off (the contract). */
  switch_off_failures: number;
  /**
   * A claim runs out: well after the ten seconds that an attempt may take, so that only a dispatcher that is gone loses
   * it.
   */
  lease_ms: number;
  /**
   * Attempts that one dispatcher has under way; each channel has one at the most. One costs a socket and some
   * kilobytes.
   */
  at_once: number;
  /**
   * A channel rests between two. Chat services take one message a second, the paging service 120 a minute (their
   * documentation).
   */
  pace_ms: Record<"native" | "chat" | "paging", number>;
  /**
   * How often the outbox is looked at when nobody said that there is something: the engine that wrote it may be another
   * core's. Up to four times longer while nothing is due.
   */
  look_ms: number;
  /** How often what is not going to be sent is looked for. Nobody waits for it. */
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
  pace_ms: { native: 0, chat: 1_000, paging: 500 },
  look_ms: 250,
  sweep_ms: 5_000,
};
