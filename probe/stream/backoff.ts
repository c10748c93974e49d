/**
 * Polite to a venue that is down, and yet soon there when it is back: until then its slots are bad. Four or five
 * attempts a minute keep to the strictest venues' limits (15 a minute and address at Kraken), also of three probes at
 * one address.
 */
const firstMs = 1000;
const longestMs = 20_000;

export interface Backoff {
  /** How long to wait before the next attempt: twice as long each time, less up to half of it by chance. */
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
