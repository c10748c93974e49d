/** How often the watch looks, and how much later than that it must come to count as a standstill at all. */
const everyMs = 50;
const shortestMs = 100;

/** Standstills older than this are forgotten; no measurement takes longer. */
const keepMs = 10 * 60_000;

/**
 * Standstills of this process up to which a measurement counts: by so much a latency, or a silence, may be too long.
 * What is slow is slow by half a second and more, and no stream stalls before ten; shorter standstills are many on a
 * machine that does other things, too. Up to `memory` it is known well enough what a stream brought before: an event
 * time that is too old by so much makes no silence of ten seconds a fault.
 */
export const bearableMs = { answer: 250, silence: 500, memory: 5_000 };

export interface EventLoopWatch {
  /**
   * Whether this process stood still for longer than `forMs` at a stretch, or its clock was moved by more, at any time
   * since `sinceMs` (as of `performance.now()`).
   */
  stoodStillSince(sinceMs: number, forMs: number): boolean;
  close(): void;
}

interface Standstill {
  endedMs: number;
  lastedMs: number;
}

/**
 * Watches this process's own event loop. What was measured across a standstill of ours (a busy processor, a machine
 * asleep, a clock that was set) says nothing about the venue.
 */
export function startEventLoopWatch(): EventLoopWatch {
  let seenMs = performance.now();
  let wallMs = Date.now();
  let standstills: Standstill[] = [];
  const timer = setInterval(look, everyMs);

  function look() {
    const passedMs = performance.now() - seenMs;
    // The monotonic clock does not count sleep, the wall clock does.
    const wallPassedMs = Date.now() - wallMs;
    seenMs += passedMs;
    wallMs += wallPassedMs;
    // A clock that was set back passed a time that was none.
    const lastedMs = Math.max(passedMs, Math.abs(wallPassedMs)) - everyMs;
    if (lastedMs < shortestMs) return;
    standstills = standstills.filter(({ endedMs }) => endedMs > seenMs - keepMs).concat({ endedMs: seenMs, lastedMs });
  }

  return {
    stoodStillSince(sinceMs, forMs) {
      // The question may come before the watch itself had its turn again.
      look();
      return standstills.some(({ endedMs, lastedMs }) => endedMs >= sinceMs && lastedMs > forMs);
    },
    close: () => clearInterval(timer),
  };
}
