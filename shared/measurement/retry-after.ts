/** A venue cannot silence a probe for longer than this. */
const longestOfProbesMs = 10 * 60_000;

/**
 * Reads a Retry-After header: seconds, or an HTTP date.
 *
 * @param longestMs what a longer wait is cut to; ten minutes when not given
 * @returns milliseconds to wait from `nowMs`; 0 when there is nothing to read
 */
export function retryAfterMs(header: unknown, nowMs: number, longestMs = longestOfProbesMs): number {
  if (typeof header !== "string") return 0;
  const text = header.trim();
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(waitMs) ? 0 : Math.min(Math.max(waitMs, 0), longestMs);
}
