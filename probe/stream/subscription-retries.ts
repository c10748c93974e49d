import { makeBucket } from "./bucket.js";

/** Schedules retries of unserved subscriptions of one socket. Times are by `performance.now()`. */
export interface SubscriptionRetries {
  /** The delay of the next retry of a subscription that was sent `timesSent` times. */
  waitMs(timesSent: number, nowMs: number): number;
  /** Whether a waiting subscription may be retried out of turn, because the venue has just begun to serve another. */
  mayHurry(nowMs: number): boolean;
}

/** Enough for some recoveries in a row; thirty an hour for a venue that alternately serves and refuses. */
const hurries = { burst: 6, perSecond: 30 / 3600 };

/** Exponential backoff up to `betweenMs`; after that the socket's subscriptions take turns, one every `betweenMs`. */
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
