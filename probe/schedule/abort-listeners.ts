const stopsOfSignals = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * What is under way until a signal: a listener of its own for each would be looked for among all the others when it is
 * over.
 */
export function abortListenersOf(signal: AbortSignal): Set<() => void> {
  const known = stopsOfSignals.get(signal);
  if (known) return known;
  const stops = new Set<() => void>();
  stopsOfSignals.set(signal, stops);
  signal.addEventListener("abort", () => {
    for (const stop of stops) stop();
  });
  return stops;
}
