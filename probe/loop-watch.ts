/** How often the watch looks, and how much later than that it must come to count as a standstill. */
const everyMs = 100;
const toleranceMs = 500;

/** Standstills older than this are forgotten; no measurement takes longer. */
const keepMs = 10 * 60_000;

export interface LoopWatch {
  /** Whether this process stood still, or its clock was moved, at any time since `sinceMs` (as of `performance.now()`). */
  stoodStillSince(sinceMs: number): boolean;
  close(): void;
}

/**
 * Watches this process's own event loop. What was measured across a standstill
 * of ours (a busy processor, a machine asleep, a clock that was set) says
 * nothing about the venue.
 */
export function startLoopWatch(): LoopWatch {
  let seenMs = performance.now();
  let wallMs = Date.now();
  let standstillsEndedMs: number[] = [];
  const timer = setInterval(look, everyMs);

  function look() {
    const passedMs = performance.now() - seenMs;
    // The monotonic clock does not count sleep, the wall clock does.
    const wallPassedMs = Date.now() - wallMs;
    seenMs += passedMs;
    wallMs += wallPassedMs;
    if (isStandstill(passedMs) || isStandstill(wallPassedMs)) {
      standstillsEndedMs = standstillsEndedMs
        .filter((endedMs) => endedMs > seenMs - keepMs)
        .concat(seenMs);
    }
  }

  return {
    stoodStillSince(sinceMs) {
      // The question may come before the watch itself had its turn again.
      look();
      return standstillsEndedMs.some((endedMs) => endedMs >= sinceMs);
    },
    close: () => clearInterval(timer),
  };
}

function isStandstill(passedMs: number): boolean {
  return passedMs > everyMs + toleranceMs || passedMs < -toleranceMs;
}
