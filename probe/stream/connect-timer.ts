import { isUnmeasured } from "../rest/measurement.js";
import { monotonicClock, type Clock } from "../schedule/clock.js";
import { makeBackoff, makeRefusalBackoff, refusalsBeforePause } from "./backoff.js";
import type { Down } from "./socket-ending.js";

/** Determines when the next socket is opened, and at which of the addresses. */
export interface ConnectTimer {
  /** Opens it before the socket in use reaches the venue's maximum age; null if there is none. */
  renew(maxConnectionMs: number | null): void;
  /**
   * Opens it after the socket at `url` went down: at the next address that may be asked, and not earlier than the
   * backoff of that address and the venue allow.
   *
   * @returns whether it waits in a pause that we chose, because the venue limits or blocks us
   */
  retry(url: string, down: Down): boolean;
  /** Must be called when the socket in use ends, with the time for which it was open. */
  ended(url: string, openMs: number): void;
  stop(): void;
}

/** After a socket was open for this long, the backoff of its address starts again at its shortest delay. */
const stableMs = 30_000;

/** Timers of Node are limited to 2^31 ms (24.8 days) and fire at once beyond; Bitstamp's 90 days exceed that. */
const longestMs = 20 * 24 * 60 * 60_000;

/**
 * @param urls interchangeable addresses
 * @param openAfterMs delay of the first socket
 */
export function startConnectTimer(
  connect: (url: string) => void,
  urls: readonly string[],
  openAfterMs: number,
  clock: Clock = monotonicClock,
): ConnectTimer {
  const addresses = urls.map((url) => ({ url, delays: makeDelays(), readyMs: -Infinity, isChosen: false }));
  let inTurn = addresses[0]!;
  let cancel = clock.after(openAfterMs, open);

  function open() {
    connect(inTurn.url);
  }

  function addressOf(url: string) {
    return addresses.find((address) => address.url === url)!;
  }

  /** The first that may be asked, in the order of the addresses after the one that failed. */
  function nextAfter(failed: (typeof addresses)[number], nowMs: number) {
    const place = addresses.indexOf(failed) + 1;
    const inOrder = [...addresses.slice(place), ...addresses.slice(0, place)];
    const waitMs = (address: (typeof addresses)[number]) => Math.max(0, address.readyMs - nowMs);
    return inOrder.reduce((soonest, address) => (waitMs(address) < waitMs(soonest) ? address : soonest));
  }

  return {
    renew(maxConnectionMs) {
      if (maxConnectionMs === null) return;
      // Random, so that sockets that were opened together are not renewed together.
      const share = 0.7 + Math.random() / 10;
      cancel = clock.after(Math.min(maxConnectionMs * share, longestMs), open);
    },
    retry(url, down) {
      cancel();
      const nowMs = clock.now();
      const failed = addressOf(url);
      const { waitMs, isChosen } = failed.delays.after(down);
      // a pause that a renewal met goes on, although another socket was still open at that time
      if (nowMs + waitMs > failed.readyMs) Object.assign(failed, { readyMs: nowMs + waitMs, isChosen });
      inTurn = nextAfter(failed, nowMs);
      cancel = clock.after(Math.max(0, inTurn.readyMs - nowMs), open);
      return failed.isChosen;
    },
    ended(url, openMs) {
      if (openMs >= stableMs) addressOf(url).delays.reset();
    },
    stop: () => cancel(),
  };
}

/** The delays between the sockets of one address. */
function makeDelays() {
  const usual = makeBackoff();
  const pauses = makeRefusalBackoff();
  let refusals = 0;

  /** The pause that we choose; 0: none. */
  function chosenMs({ cause, retryAfterMs }: Down): number {
    const fault = isUnmeasured(cause) ? null : cause.fault;
    refusals = fault === "blocked" ? refusals + 1 : 0;
    const isLimit = fault === "limited" && retryAfterMs === 0;
    return isLimit || refusals >= refusalsBeforePause ? pauses.nextMs() : 0;
  }

  return {
    after(down: Down): { waitMs: number; isChosen: boolean } {
      const pauseMs = chosenMs(down);
      const otherMs = Math.max(usual.nextMs(), down.retryAfterMs);
      return { waitMs: Math.max(pauseMs, otherMs), isChosen: pauseMs > otherMs };
    },
    reset() {
      usual.reset();
      pauses.reset();
    },
  };
}
