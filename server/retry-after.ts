/** A venue cannot silence us for longer than this. */
const longestMs = 10 * 60_000;

/**
 * Reads a Retry-After header: seconds, or an HTTP date.
 *
 * @returns milliseconds to wait from `nowMs`, at most ten minutes; 0 when there is nothing to read
 */
export function retryAfterMs(header: unknown, nowMs: number): number {
  if (typeof header !== "string") return 0;
  const text = header.trim();
  const waitMs = /^\d+$/.test(text)
    ? Number(text) * 1000
    : Date.parse(text) - nowMs;
  return Number.isNaN(waitMs) ? 0 : Math.min(Math.max(waitMs, 0), longestMs);
}
