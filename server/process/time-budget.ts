/**
 * Divides a limited time among several closings in a row: each may take half
 * of what is left, the last one all of it. A stuck one can so not starve those
 * after it, and what a quick one leaves over is theirs.
 */
export function makeTimeBudget(totalMs: number) {
  const endsAt = performance.now() + totalMs;
  return {
    /** @param turnsLeft how many are still to have a turn, this one included */
    shareMs(turnsLeft: number): number {
      const leftMs = Math.max(0, endsAt - performance.now());
      return turnsLeft > 1 ? leftMs / 2 : leftMs;
    },
  };
}
