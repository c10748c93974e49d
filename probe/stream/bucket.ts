export interface Allowance {
  burst: number;
  perSecond: number;
}

/** Lets through so much at once, and then so much a second. */
export function makeBucket({ burst, perSecond }: Allowance): {
  /** Whether there was so much left at `atMs` (as of `performance.now()`); if so, it is taken. */
  take(amount: number, atMs: number): boolean;
} {
  // Of a variable every new fraction is an object, and most frames would make one.
  const left = new Float64Array([burst]);
  let filledMs: number | null = null;

  return {
    take(amount, atMs) {
      if (left[0]! < amount) {
        const passedMs = atMs - (filledMs ?? atMs);
        left[0] = Math.min(burst, left[0]! + (passedMs * perSecond) / 1000);
        filledMs = atMs;
      }
      filledMs ??= atMs;
      if (left[0]! < amount) return false;
      left[0]! -= amount;
      return true;
    },
  };
}
