/**
 * Divides a limited time among closings in a row: each may take half of the time left, the last one all of it. So one
 * that hangs cannot starve the others, and they get the time that a quick one does not use.
 */
export function makeTimeBudget(totalMs: number) {
  const endsAt = performance.now() + totalMs;
  return {
    /** @param turnsLeft closings that are left, including this one */
    shareMs(turnsLeft: number): number {
      const leftMs = Math.max(0, endsAt - performance.now());
      return turnsLeft > 1 ? leftMs / 2 : leftMs;
    },
  };
}
