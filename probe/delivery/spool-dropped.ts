/** Counts the samples that a spool drops for lack of space, and logs them at intervals. */
import type { Log } from "../../shared/log/log.js";

/** @param waiting how many samples the spool holds */
export function makeDroppedSamples(log: Log, logEveryMs: number, waiting: () => number) {
  let total = 0;
  let logged = 0;
  let droppedAtMs = -Infinity;
  let loggedAtMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  return {
    count,
    total: () => total,
    /** Whether samples were dropped within the last interval. */
    isRecent: () => performance.now() - droppedAtMs < logEveryMs,
    /** Counts the samples that are lost at shutdown, and logs all that are not logged yet. */
    finish(lost: number): void {
      total += lost;
      if (total > logged) logDropped();
    },
  };

  function count(samples: number): void {
    total += samples;
    droppedAtMs = performance.now();
    const againMs = loggedAtMs + logEveryMs - droppedAtMs;
    if (againMs <= 0) logDropped();
    else timer ??= setTimeout(logDropped, againMs).unref();
  }

  function logDropped(): void {
    clearTimeout(timer);
    timer = undefined;
    log.error("dropped the oldest samples for lack of space", { dropped: total - logged, waiting: waiting() });
    logged = total;
    loggedAtMs = performance.now();
  }
}
