import type { Log } from "../../shared/log/log.js";
import { makeOutage } from "../../shared/log/outage.js";
import type { Condition, KeepAlive } from "../../shared/registry/registry.js";
import { makeBackoff } from "./backoff.js";
import type { Cause } from "../rest/cause.js";
import type { Subscription, SubscriptionError } from "./subscription.js";
import { isUnmeasured } from "../rest/measurement.js";
import type { Resolver } from "../network/resolver.js";
import { startSession, type Patience, type StreamSession } from "./session.js";
import type { Arrival, Down, Flow, VenueSocket } from "./socket.js";

export interface ReconnectingSocketOptions {
  url: string;
  welcome?: readonly Condition[] | undefined;
  keepAlive: KeepAlive;
  maxConnectionMs: number | null;
  openAfterMs: number;
  feeds: readonly Subscription[];
  userAgent: string;
  resolver: Resolver;
  /** Trusted authorities, as PEM; default: those of Node. */
  ca?: string;
  log: Log;
  patience?: Partial<Patience & Overlap>;
  flow?: Flow;
}

/**
 * Keeps one address of a venue connected: reopens the socket when it closes, and replaces it before it reaches the
 * venue's maximum age.
 */
export interface ReconnectingSocket {
  /** The socket in use; null if there is none. */
  opened(): VenueSocket["opened"];
  /** Why there is no socket; null if there is one, and until the first attempt has ended. */
  down(): Cause | null;
  close(): void;
}

/** After a socket was open for this long, the backoff starts again at its shortest delay. */
const stableMs = 30_000;

export interface Overlap {
  /**
   * How long a new socket waits for data of all its streams after its first frame, until it replaces the old one
   * anyway.
   */
  overlapMs: number;
}

const usualOverlapMs = 15_000;

/**
 * How long the old socket is still counted after all streams have sent data on the new one: a frame arrives on both
 * sockets, one after the other, and must be counted once. This is not a multiple of any stream's period.
 */
const settleMs = 350;

/** Timers of Node are limited to 2^31 ms (24.8 days) and fire at once beyond; Bitstamp's 90 days exceed that. */
const longestMs = 20 * 24 * 60 * 60_000;

export function startReconnectingSocket(options: ReconnectingSocketOptions): ReconnectingSocket {
  const { url, feeds, log } = options;
  const { overlapMs = usualOverlapMs } = options.patience ?? {};
  const backoff = makeBackoff();
  let current: StreamSession | null = null;
  let next: StreamSession | null = null;
  let down: Cause | null = null;
  let isSettling = false;
  /**
   * The newest open socket fell silent, or never sent a frame. The next one may be as mute until its first frame
   * arrives.
   */
  let fellSilent = false;
  const falls = makeOutage(
    log,
    {
      begun: "socket down",
      lasts: "socket still closes, or does not open",
      over: "socket stays open again",
    },
    { level: "warn", of: { url } },
  );
  /** The socket closed because of probe trouble, which is logged once for all sockets. */
  let isOurs = false;
  /** The last log line about each stream's subscription. */
  const saidOf = new Map<Subscription, string>();
  let connectTimer = setTimeout(connect, options.openAfterMs);
  let overlapTimer: NodeJS.Timeout | undefined;

  return {
    opened: () => (current?.isOpen() ? current.opened() : null),
    down: () => down,
    close() {
      clearTimeout(connectTimer);
      clearTimeout(overlapTimer);
      falls.close();
      current?.close();
      next?.close();
      current = next = null;
    },
  };

  function connect() {
    isSettling = false;
    next = startSession({
      ...options,
      onOpen,
      onSpoke,
      onServed,
      onData,
      onTrouble,
      onDown,
    });
  }

  function onOpen(session: StreamSession) {
    // The old socket may fall silent before the new one has proved that it works.
    if (current || fellSilent) session.mustSpeak();
    else takeOver();
  }

  function onSpoke(session: StreamSession) {
    fellSilent = false;
    if (session !== next) return;
    if (current) takeOverIn(overlapMs);
    else takeOver();
  }

  function takeOverIn(ms: number) {
    clearTimeout(overlapTimer);
    overlapTimer = setTimeout(() => {
      if (next?.isOpen()) takeOver();
    }, ms);
  }

  /** Replaces the old socket, if any, by the new one. The meters continue. */
  function takeOver() {
    clearTimeout(overlapTimer);
    current?.close();
    current = next;
    next = null;
    down = null;
    for (const feed of feeds) handOver(feed);
    tellOpen();
    scheduleRenewal();
  }

  function tellOpen() {
    if (falls.isOn()) falls.succeeded();
    else log[isOurs ? "debug" : "info"]("socket open", { url });
    isOurs = false;
  }

  function scheduleRenewal() {
    const { maxConnectionMs } = options;
    if (maxConnectionMs === null) return;
    // Random, so that sockets that were opened together are not renewed together.
    const share = 0.7 + Math.random() / 10;
    const delayMs = Math.min(maxConnectionMs * share, longestMs);
    connectTimer = setTimeout(connect, delayMs);
  }

  /** A stream that the new socket does not carry yet is lost until it does. Sequence numbers begin again. */
  function handOver(feed: Subscription) {
    if (!current?.served.has(feed)) feed.meter.lost();
    else hear(feed);
    feed.trouble = current?.troubles.get(feed) ?? null;
    feed.sequence?.restart();
  }

  function onServed(session: StreamSession, feed: Subscription) {
    saidOf.delete(feed);
    if (session !== current) return;
    feed.trouble = null;
    hear(feed);
  }

  /**
   * If the socket in use had closed before, the time between the two sockets is not counted as silence: the stream
   * starts as a new subscription.
   */
  function hear({ meter }: Subscription) {
    if (!meter.isSubscribed()) meter.subscribed(performance.now());
  }

  function onData(session: StreamSession, feed: Subscription, frame: unknown, arrival: Arrival) {
    if (session === current) count(feed, frame, arrival);
    else if (!isSettling && session.heard.size === feeds.length) {
      isSettling = true;
      takeOverIn(settleMs);
    }
  }

  function onTrouble(session: StreamSession, feed: Subscription, trouble: SubscriptionError) {
    const { kind, words } = trouble;
    const said = words === null ? {} : { words };
    // the subscription is retried every twenty seconds, usually with the same result
    const line = `${told[kind]} ${words}`;
    if (saidOf.get(feed) !== line) log.warn(told[kind], { url, stream: feed.stream.name, ...said });
    saidOf.set(feed, line);
    if (session !== current) return;
    feed.meter.lost();
    feed.trouble = trouble;
  }

  function onDown(session: StreamSession, { cause, detail, retryAfterMs }: Down) {
    tellDown(cause, detail);
    if (session === current) return onCurrentDown(session, cause, retryAfterMs);
    next = null;
    clearTimeout(overlapTimer);
    noteSilence(session, cause);
    if (!current) fall(cause);
    reconnect(retryAfterMs);
  }

  function tellDown(cause: Cause, detail: string) {
    isOurs = isUnmeasured(cause);
    if (isOurs) log.debug("socket down", { url, ...cause, detail });
    else falls.failed("attempts", { ...cause, detail });
  }

  function onCurrentDown(session: StreamSession, cause: Cause, retryAfterMs: number) {
    const openedMs = session.opened()?.atMs ?? Infinity;
    if (performance.now() - openedMs >= stableMs) backoff.reset();
    current = null;
    for (const feed of feeds) feed.meter.lost();
    // If the newer socket has sent a frame, it is not mute.
    if (!next?.hasSpoken()) noteSilence(session, cause);
    if (next?.isOpen() && !fellSilent) return takeOver();
    fall(cause);
    for (const feed of feeds) feed.trouble = null;
    if (!next) reconnect(retryAfterMs);
  }

  function fall(cause: Cause) {
    down = cause;
    for (const feed of feeds) feed.fall = cause;
  }

  /** A socket that never opened says nothing about the next one, and neither does probe trouble. */
  function noteSilence(session: StreamSession, cause: Cause) {
    if (session.opened() === null || isUnmeasured(cause)) return;
    if (cause.fault === "timeout" || !session.hasSpoken()) fellSilent = true;
  }

  function reconnect(notBeforeMs: number) {
    clearTimeout(connectTimer);
    const waitMs = Math.max(backoff.nextMs(), notBeforeMs);
    connectTimer = setTimeout(connect, waitMs);
  }
}

const told: Record<SubscriptionError["kind"], string> = {
  refused: "subscription refused",
  unanswered: "subscription not acknowledged, and no data received, in time",
};

function count({ meter, sequence }: Subscription, frame: unknown, arrival: Arrival) {
  meter.frame(frame, arrival, sequence?.isGap(frame));
}
