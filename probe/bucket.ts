export interface Allowance {
  burst: number;
  perSecond: number;
}

/** Lets through so much at once, and then so much a second. */
export function makeBucket({ burst, perSecond }: Allowance): {
  /** Whether there was so much left at `atMs` (as of `performance.now()`); if so, it is taken. */
  take(amount: number, atMs: number): boolean;
} {
  let left = burst;
  let filledMs: number | null = null;

  return {
    take(amount, atMs) {
      if (left < amount) {
        const passedMs = atMs - (filledMs ?? atMs);
        left = Math.min(burst, left + (passedMs * perSecond) / 1000);
        filledMs = atMs;
      }
      filledMs ??= atMs;
      if (left < amount) return false;
      left -= amount;
      return true;
    },
  };
}
