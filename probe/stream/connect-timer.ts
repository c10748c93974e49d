import { makeBackoff } from "./backoff.js";

/** Determines when the next socket of one address is opened. */
export interface ConnectTimer {
  /** Opens it before the socket in use reaches the venue's maximum age; null if there is none. */
  renew(maxConnectionMs: number | null): void;
  /** Opens it after a backoff, and not earlier than the venue allows. */
  retry(notBeforeMs: number): void;
  /** Must be called when the socket in use ends, with the time for which it was open. */
  ended(openMs: number): void;
  stop(): void;
}

/** After a socket was open for this long, the backoff starts again at its shortest delay. */
const stableMs = 30_000;

/** Timers of Node are limited to 2^31 ms (24.8 days) and fire at once beyond; Bitstamp's 90 days exceed that. */
const longestMs = 20 * 24 * 60 * 60_000;

/** @param openAfterMs delay of the first socket */
export function startConnectTimer(connect: () => void, openAfterMs: number): ConnectTimer {
  const backoff = makeBackoff();
  let timer = setTimeout(connect, openAfterMs);

  return {
    renew(maxConnectionMs) {
      if (maxConnectionMs === null) return;
      // Random, so that sockets that were opened together are not renewed together.
      const share = 0.7 + Math.random() / 10;
      timer = setTimeout(connect, Math.min(maxConnectionMs * share, longestMs));
    },
    retry(notBeforeMs) {
      clearTimeout(timer);
      timer = setTimeout(connect, Math.max(backoff.nextMs(), notBeforeMs));
    },
    ended(openMs) {
      if (openMs >= stableMs) backoff.reset();
    },
    stop: () => clearTimeout(timer),
  };
}
