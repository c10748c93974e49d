/** Longest time that others may wait for the embedded database, whose single backend serves everybody. */
const turnMs = 250;

/** Adaptive batch size of one kind of work: the items that take about `turnMs`. */
export interface PoolPace {
  items: number;
}

/** Processes items in order, in batches of about `turnMs`. Stops early when the signal is aborted. */
export async function throttled<Item>(
  items: readonly Item[],
  pace: PoolPace,
  signal: AbortSignal,
  work: (some: Item[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < items.length && !signal.aborted;) {
    const some = items.slice(from, from + pace.items);
    const startedMs = performance.now();
    await work(some);
    const eachMs = (performance.now() - startedMs) / some.length;
    // at most doubled: the first items may have been the cheap ones
    pace.items = Math.max(1, Math.min(2 * pace.items, Math.round(turnMs / eachMs)));
    from += some.length;
  }
}
