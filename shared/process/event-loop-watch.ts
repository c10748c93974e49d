/** The interval of the watch, and the minimum delay beyond it that counts as a standstill. */
const everyMs = 50;
const shortestMs = 100;

/** Standstills older than this are forgotten; no measurement takes longer. */
const keepMs = 10 * 60_000;

/**
 * The longest standstills of this process at which a measurement still counts. A latency or a silence may be too long
 * by as much. That is harmless: a slow answer is slow by half a second or more, and no stream stalls before ten
 * seconds. Shorter standstills are frequent on a machine that also does other work. Up to `memory`, the meter's
 * knowledge of what a stream sent before is good enough: an event time that is too old by this much turns no silence of
 * ten seconds into a fault.
 */
export const tolerableMs = { answer: 250, silence: 500, memory: 5_000 };

export interface EventLoopWatch {
  /**
   * Whether, at any time since `sinceMs` (by `performance.now()`), this process stalled for longer than `forMs` at
   * a stretch, or its clock was set by more than that.
   */
  stalledSince(sinceMs: number, forMs: number): boolean;
  close(): void;
}

interface Standstill {
  endedMs: number;
  lastedMs: number;
}

/**
 * Watches this process's own event loop. A measurement across a standstill (a busy processor, a sleeping machine, a
 * clock that was set) says nothing about the venue.
 */
export function startEventLoopWatch(): EventLoopWatch {
  let seenMs = performance.now();
  let wallMs = Date.now();
  let standstills: Standstill[] = [];
  const timer = setInterval(look, everyMs);

  function look() {
    const passedMs = performance.now() - seenMs;
    // The monotonic clock does not count sleep; the wall clock does.
    const wallPassedMs = Date.now() - wallMs;
    seenMs += passedMs;
    wallMs += wallPassedMs;
    // The absolute value is for a wall clock that was set back.
    const lastedMs = Math.max(passedMs, Math.abs(wallPassedMs)) - everyMs;
    if (lastedMs < shortestMs) return;
    standstills = standstills.filter(({ endedMs }) => endedMs > seenMs - keepMs).concat({ endedMs: seenMs, lastedMs });
  }

  return {
    stalledSince(sinceMs, forMs) {
      // This may be called before the timer of the watch has fired again.
      look();
      return standstills.some(({ endedMs, lastedMs }) => endedMs >= sinceMs && lastedMs > forMs);
    },
    close: () => clearInterval(timer),
  };
}
