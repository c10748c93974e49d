export interface Allowance {
  burst: number;
  perSecond: number;
}

/** A token bucket: allows `burst` at once, and `perSecond` a second after that. */
export function makeBucket({ burst, perSecond }: Allowance): {
  /** Takes the amount if so much is left at `atMs` (by `performance.now()`). Returns whether it was. */
  take(amount: number, atMs: number): boolean;
} {
  // An array, because each new fraction in a variable is allocated as an object, which most frames would cause.
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
