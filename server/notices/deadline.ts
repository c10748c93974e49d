/** What ends a piece of work: its time being up, or the signal of who asked for it. */
export interface Deadline {
  signal: AbortSignal;
  /** Its time was up first. */
  isPast: () => boolean;
  /** For when the work is done: leaves the outer signal as it was. */
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
