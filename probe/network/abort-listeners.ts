/**
 * Callbacks to run when a signal aborts. They share one listener: removing a separate listener for each would search
 * among all the others.
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

const stopsOfSignals = new WeakMap<AbortSignal, Set<() => void>>();
