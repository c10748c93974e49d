const minuteMs = 60_000;

export interface BelievedWait {
  /** The longest wait that is honoured; default: ten minutes. */
  longestMs?: number;
  /**
   * A longer wait counts as an error of the server, and as if it had named none: some send the time itself, in seconds
   * or milliseconds since 1970. Default: an hour.
   */
  credibleMs?: number;
}

/**
 * Reads a Retry-After header: seconds, or an HTTP date.
 *
 * @returns milliseconds to wait from `nowMs`; 0 when the header is missing, invalid or not credible
 */
export function retryAfterMs(
  header: unknown,
  nowMs: number,
  { longestMs = 10 * minuteMs, credibleMs = 60 * minuteMs }: BelievedWait = {},
): number {
  if (typeof header !== "string") return 0;
  const waitMs = saidMs(header.trim(), nowMs);
  const isWait = waitMs > 0 && waitMs <= credibleMs;
  return isWait ? Math.min(Math.round(waitMs), longestMs) : 0;
}

/** NaN if it says nothing. */
function saidMs(text: string, nowMs: number): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // `Date.parse` takes other numbers, such as -1, for years; a date of HTTP has a time of day
  return text.includes(":") ? Date.parse(text) - nowMs : NaN;
}
