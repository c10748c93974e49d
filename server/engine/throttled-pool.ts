/** As long as others may wait for the embedded database, which has one backend for all of them. */
const turnMs = 250;

/** Of one kind of work: how many items at once take about a turn. */
export interface PoolPace {
  items: number;
}

/** Works through items in their order, as many at a time as take about a turn. Ends early when it is told to stop. */
export async function throttled<Item>(
  items: readonly Item[],
  pace: PoolPace,
  signal: AbortSignal,
  work: (some: Item[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < items.length && !signal.aborted;) {
    const some = items.slice(from, from + pace.items);
    const begunMs = performance.now();
    await work(some);
    const eachMs = (performance.now() - begunMs) / some.length;
    // twice as many at the most: the first ones may have been the cheap ones
    pace.items = Math.max(1, Math.min(2 * pace.items, Math.round(turnMs / eachMs)));
    from += some.length;
  }
}
