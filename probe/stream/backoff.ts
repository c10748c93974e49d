/**
 * A compromise: attempts must not burden a venue that is down, but its slots are bad until the probe has reconnected.
 * Four or five attempts a minute are within the strictest venue's limit (15 a minute and address at Kraken), even for
 * three probes at one address.
 */
const firstMs = 1000;
const longestMs = 20_000;

export interface Backoff {
  /** The delay before the next attempt. It doubles each time, minus a random part of up to a half. */
  nextMs: () => number;
  reset: () => void;
}

export function makeBackoff(random: () => number = Math.random): Backoff {
  let attempts = 0;
  return {
    nextMs() {
      const fullMs = Math.min(firstMs * 2 ** attempts, longestMs);
      attempts += 1;
      return Math.round(fullMs * (1 - random() / 2));
    },
    reset() {
      attempts = 0;
    },
  };
}
