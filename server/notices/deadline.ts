/** Ends a piece of work: when its time is up, or when the caller's signal aborts. */
export interface Deadline {
  signal: AbortSignal;
  /** Whether it ended because its time was up. */
  isPast: () => boolean;
  /** To be called when the work is done: removes the timer and the listener on the outer signal. */
  clear: () => void;
}

export function deadlineIn(ms: number, outer: AbortSignal): Deadline {
  const ending = new AbortController();
  const end = () => ending.abort(outer.reason);
  const late = new Error(`not done within ${ms} ms`);
  const timer = setTimeout(() => ending.abort(late), ms);
  if (outer.aborted) end();
  outer.addEventListener("abort", end, { once: true });
  return {
    signal: ending.signal,
    isPast: () => ending.signal.reason === late,
    clear() {
      clearTimeout(timer);
      outer.removeEventListener("abort", end);
    },
  };
}
