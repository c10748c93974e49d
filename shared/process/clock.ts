/** The clock and timers of a schedule, replaceable so that a test can pass hours in microseconds. */
export interface Clock {
  /** Wall time, milliseconds since 1970. */
  now(): number;
  /** Calls back once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** For durations: nobody sets it, and it stands still while the machine sleeps. */
export const monotonicClock: Clock = { ...systemClock, now: () => performance.now() };
