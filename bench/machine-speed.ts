/**
 * Measures how fast this machine is now. The speed and the processor time of shared machines vary by a third from one
 * hour to the next.
 */
import type { Figure } from "./figure.js";

const steps = 200_000_000;

/** Times a fixed number of integer operations in milliseconds, the best of three runs. */
export function machineSpeed(): Figure {
  const runsMs = Array.from({ length: 3 }, () => {
    const startMs = performance.now();
    hashed(steps);
    return performance.now() - startMs;
  });
  return {
    what: `this machine: ${steps / 1e6} million steps of integer arithmetic`,
    value: Math.min(...runsMs),
    unit: "ms",
  };
}

function hashed(count: number): number {
  let hash = 0;
  for (let i = 0; i < count; i++) hash = (hash * 31 + i) | 0;
  return hash;
}
