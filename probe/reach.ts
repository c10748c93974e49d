/** Cadences are seconds: what was reached earlier than this may be beyond reach by now. */
const freshMs = 10_000;

/** Which hosts this machine has reached of late: if others are, then one without a route is not our own trouble. */
export interface Reach {
  /** A connection to the host was made, or something came through one. */
  reached(host: string): void;
  /** Whether any other host was reached in the last ten seconds. */
  othersReached(host: string): boolean;
}

export function makeReach(now: () => number = () => performance.now()): Reach {
  const reachedAtMs = new Map<string, number>();
  return {
    reached(host) {
      reachedAtMs.set(host, now());
    },
    othersReached(host) {
      const freshFromMs = now() - freshMs;
      return [...reachedAtMs].some(
        ([other, atMs]) => other !== host && atMs > freshFromMs,
      );
    },
  };
}
