/** Counts the samples that a spool drops for lack of space, and logs them at intervals. */
import type { Log } from "../../shared/log/log.js";

/** @param waiting how many samples the spool holds */
export function makeDroppedSamples(log: Log, tellEveryMs: number, waiting: () => number) {
  let total = 0;
  let told = 0;
  let droppedAtMs = -Infinity;
  let toldAtMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  return {
    count,
    total: () => total,
    /** Some were dropped within the last interval. */
    isRecent: () => performance.now() - droppedAtMs < tellEveryMs,
    /** Counts the samples that are lost at shutdown, and logs all that are not logged yet. */
    finish(lost: number): void {
      total += lost;
      if (total > told) tell();
    },
  };

  function count(samples: number): void {
    total += samples;
    droppedAtMs = performance.now();
    const againMs = toldAtMs + tellEveryMs - droppedAtMs;
    if (againMs <= 0) tell();
    else timer ??= setTimeout(tell, againMs).unref();
  }

  function tell(): void {
    clearTimeout(timer);
    timer = undefined;
    log.error("dropped the oldest samples for lack of space", { dropped: total - told, waiting: waiting() });
    told = total;
    toldAtMs = performance.now();
  }
}
