import { makeBucket } from "./bucket.js";

/** When subscriptions of one socket that are not served are sent again. Times are `performance.now()`. */
export interface SubscriptionRetries {
  /** How long a subscription waits for its turn that has been sent so often. */
  waitMs(timesSent: number, nowMs: number): number;
  /** Whether one that waits may be sent out of its turn, for the venue has just begun to serve another. */
  mayHurry(nowMs: number): boolean;
}

/** Some recoveries in a row; and thirty an hour of a venue that serves and refuses by turns. */
const hurries = { burst: 6, perSecond: 30 / 3600 };

/**
 * Soon at first, and each time after twice as long; then one subscription of the socket after the other has its turn.
 */
export function makeSubscriptionRetries(firstMs: number, betweenMs: number): SubscriptionRetries {
  const hurriesLeft = makeBucket(hurries);
  let lastTurnMs = -Infinity;

  return {
    waitMs(timesSent, nowMs) {
      const waitMs = firstMs * 2 ** (timesSent - 1);
      if (waitMs < betweenMs) return waitMs;
      lastTurnMs = Math.max(nowMs, lastTurnMs) + betweenMs;
      return lastTurnMs - nowMs;
    },
    mayHurry: (nowMs) => hurriesLeft.take(1, nowMs),
  };
}
