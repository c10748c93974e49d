/**
 * A compromise: attempts must not burden a venue that is down, but its slots are bad until the probe has reconnected.
 * Four or five attempts a minute are within the strictest venue's limit (15 a minute and address at Kraken), even for
 * three probes at one address.
 */
const usual = { firstMs: 1000, longestMs: 20_000 };

/**
 * For a venue that limits or blocks us without saying for how long: further requests may prolong a ban. The longest
 * delay is also how late we may notice that it serves us again.
 */
const refusal = { firstMs: 30_000, longestMs: 2 * 60_000 };

/**
 * This many refusals (403, 451) in a row are no accident of a firewall, and they are enough to confirm the fault: the
 * next attempts wait as after a rate limit.
 */
export const refusalsBeforePause = 3;

export interface Backoff {
  /** The delay before the next attempt. It doubles each time, minus a random part of up to a half. */
  nextMs: () => number;
  reset: () => void;
}

export function makeBackoff(random: () => number = Math.random, { firstMs, longestMs } = usual): Backoff {
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

/** The lengths of pauses that we choose ourselves; no part of them is random. */
export function makeRefusalBackoff(): Backoff {
  return makeBackoff(() => 0, refusal);
}
