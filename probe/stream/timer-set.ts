/** Timers of one socket, which end with it. */
export interface SocketTimers {
  after(ms: number, run: () => void): NodeJS.Timeout;
  /** Like `after`, for what judges the venue by what has arrived until then. */
  judgeAfter(ms: number, judge: () => void): void;
  cancel(timer: NodeJS.Timeout | undefined): void;
  stop(): void;
}

export function makeSocketTimers(): SocketTimers {
  const timers = new Set<NodeJS.Timeout>();

  function after(ms: number, run: () => void) {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
    return timer;
  }

  return {
    after,
    judgeAfter(ms, judge) {
      // After a standstill of this process, timers run before the data that arrived meanwhile is read.
      after(ms, () => setImmediate(judge));
    },
    cancel(timer) {
      if (timer === undefined) return;
      clearTimeout(timer);
      timers.delete(timer);
    },
    stop() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
