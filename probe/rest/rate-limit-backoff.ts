/**
 * For a venue that rations us and does not say for how long. Its slots count against it meanwhile, and so the longest
 * of these guesses is how much later than others we may find that it serves us again.
 */
const firstMs = 30_000;
const longestMs = 2 * 60_000;

/** Pauses that venues asked for. They ration by address, so that a pause holds for all of an origin. */
export interface RateLimitBackoff {
  isPaused(origin: string): boolean;
  /**
   * @param askedMs how long the venue asked for; 0 where it did not say: half a minute then, twice as long each time,
   * at most two minutes
   */
  limited(origin: string, askedMs: number): void;
  /** The origin serves us again. */
  served(origin: string): void;
}

export function makeRateLimitBackoff(now: () => number = () => performance.now()): RateLimitBackoff {
  const pauses = new Map<string, { untilMs: number; unsaidMs: number }>();

  function isPaused(origin: string) {
    return now() < (pauses.get(origin)?.untilMs ?? -Infinity);
  }

  return {
    isPaused,
    limited(origin, askedMs) {
      const { untilMs = -Infinity, unsaidMs = firstMs } = pauses.get(origin) ?? {};
      // Answers to what was under way already are no second refusal.
      const isSame = isPaused(origin) && askedMs === 0;
      if (isSame) return;
      pauses.set(origin, {
        untilMs: Math.max(untilMs, now() + (askedMs || unsaidMs)),
        unsaidMs: askedMs ? unsaidMs : Math.min(unsaidMs * 2, longestMs),
      });
    },
    served(origin) {
      if (!isPaused(origin)) pauses.delete(origin);
    },
  };
}
