/** The longest wait that a venue can impose on a probe. */
const defaultLongestMs = 10 * 60_000;

/**
 * Reads a Retry-After header: seconds, or an HTTP date.
 *
 * @param longestMs the limit of the wait; ten minutes when not given
 * @returns milliseconds to wait from `nowMs`; 0 when the header is missing or invalid
 */
export function retryAfterMs(header: unknown, nowMs: number, longestMs = defaultLongestMs): number {
  if (typeof header !== "string") return 0;
  const text = header.trim();
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(waitMs) ? 0 : Math.min(Math.max(waitMs, 0), longestMs);
}
