import type { Clock } from "../../shared/process/clock.js";

/** A clock that stands still until it is advanced. `jump` sets it, or simulates sleep: timers do not notice. */
export function makeFakeClock(startMs: number) {
  let nowMs = startMs;
  let timers: { dueMs: number; callback: () => void }[] = [];
  const clock: Clock = {
    now: () => nowMs,
    after(delayMs, callback) {
      const timer = { dueMs: nowMs + delayMs, callback };
      timers.push(timer);
      return () => (timers = timers.filter((one) => one !== timer));
    },
  };

  async function walk(ms: number) {
    const endMs = nowMs + ms;
    for (;;) {
      const [first] = timers.sort((a, b) => a.dueMs - b.dueMs);
      if (!first || first.dueMs > endMs) break;
      nowMs = Math.max(nowMs, first.dueMs);
      timers = timers.filter((one) => one !== first);
      first.callback();
      // Measurements that end at once deliver their samples before the time advances.
      await new Promise(setImmediate);
    }
    nowMs = endMs;
  }

  function jump(ms: number) {
    nowMs += ms;
    for (const timer of timers) timer.dueMs += ms;
  }

  return { clock, walk, jump };
}
