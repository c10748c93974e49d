/** An instant by both clocks. */
export interface Instant {
  monotonicMs: number;
  wallMs: number;
}

export function now(): Instant {
  return { monotonicMs: performance.now(), wallMs: Date.now() };
}

/**
 * Whether more time has passed since then, by either clock: the monotonic one may stand still while a machine sleeps,
 * and the other one may be set back. An error is on the side of doubt.
 */
export function isOlder({ monotonicMs, wallMs }: Instant, ms: number): boolean {
  return performance.now() - monotonicMs > ms || Date.now() - wallMs > ms;
}
