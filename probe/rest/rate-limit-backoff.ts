/**
 * * Backoff for a venue that rate-limits us without saying for how long. Its slots count against it meanwhile. So the
 * longest backoff is also the longest delay with which we notice that it serves us again.
 */
const firstMs = 30_000;
const longestMs = 2 * 60_000;

/** Pauses of rate-limited origins. Venues limit by client address, so a pause applies to all endpoints of an origin. */
export interface RateLimitBackoff {
  isPaused(origin: string): boolean;
  /**
   * @param askedMs the pause that the venue asked for; 0 if it named none: then half a minute, doubled each time, at
   * most two minutes
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
      // An answer to a request that was already in flight is not a second refusal.
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
