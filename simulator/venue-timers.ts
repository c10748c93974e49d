/** Timers of one client's socket, which end with it. All times are milliseconds of the venue. */
import type { Timer } from "./player.js";

/**
 * The longest time that setTimeout accepts. The world ignores rules of a venue that would apply later than in 24 days.
 */
const longestTimerMs = 2 ** 31 - 1;

export interface VenueTimers {
  /** Runs it when the frames that have arrived by then have been read, so that it can judge the client. */
  after: (ms: number, run: () => void) => Timer;
  every: (ms: number, run: () => void) => void;
  /** Runs it at its time, for what this side sends. */
  later: (ms: number, run: () => void) => NodeJS.Timeout;
  stop: () => void;
}

export function makeVenueTimers(timeScale: number): VenueTimers {
  const timers = new Set<NodeJS.Timeout>();
  let isStopped = false;
  return { after, every, later, stop };

  function after(ms: number, run: () => void): Timer {
    let judging: NodeJS.Immediate | undefined;
    // read what has arrived by now first: this machine may have been busy, rather than the client late
    const timer = later(ms, () => {
      judging = setImmediate(() => {
        if (!isStopped) run();
      });
    });
    return { refresh, cancel };

    function refresh() {
      clearImmediate(judging);
      timers.add(timer);
      timer.refresh();
    }

    function cancel() {
      clearImmediate(judging);
      clearTimeout(timer);
      timers.delete(timer);
    }
  }

  function every(ms: number, run: () => void) {
    timers.add(setInterval(run, ms / timeScale));
  }

  function later(ms: number, run: () => void) {
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        run();
      },
      Math.min(ms / timeScale, longestTimerMs),
    );
    timers.add(timer);
    return timer;
  }

  function stop() {
    isStopped = true;
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
  }
}
