import type { Log } from "../../../shared/log/log.js";
import { makeOutage } from "../../../shared/log/outage.js";
import { type Clock, monotonicClock } from "../../../shared/process/clock.js";
import { publicAddress } from "../../../shared/registry/addresses.js";
import type { AnyOf, Condition, FrameCompression, KeepAlive } from "../../../shared/registry/registry.js";
import type { Resolver } from "../../network/resolver.js";
import type { Cause } from "../causes.js";
import { isUnmeasured } from "../measurement.js";
import { makeBackoff, makeRefusalBackoff, refusalsBeforePause } from "../pauses.js";
import type { Arrival, Flow } from "./inflow.js";
import { type Patience, startSession, type StreamSession } from "./session.js";
import type { Down, VenueSocket } from "./socket.js";
import type { Subscription, SubscriptionError } from "./subscription.js";

export interface ReconnectingSocketOptions {
  url: string;
  /**
   * Interchangeable other addresses, each tried when the one before fails. If there are any, no host is the venue's
   * own.
   */
  alternatives?: readonly string[] | undefined;
  /** The headers for one of its addresses; default: none. */
  headersAt?: (url: string) => Record<string, string>;
  welcome?: readonly Condition[] | undefined;
  blocked?: AnyOf | undefined;
  limited?: AnyOf | undefined;
  halted?: AnyOf | undefined;
  compression?: FrameCompression | undefined;
  keepAlive: KeepAlive;
  maxConnectionMs: number | null;
  openAfterMs: number;
  subscriptions: readonly Subscription[];
  userAgent: string;
  resolver: Resolver;
  /** Trusted authorities, as PEM; default: those of Node. */
  ca?: string;
  log: Log;
  patience?: Partial<Patience & Overlap>;
  flow?: Flow;
  /** For the delays between sockets. Changed only by tests. */
  clock?: Clock;
}

/**
 * Keeps one address of a venue connected: reopens the socket when it closes, and replaces it before it reaches the
 * venue's maximum age.
 */
export interface ReconnectingSocket {
  /** The socket in use; null if there is none. */
  opened(): VenueSocket["opened"];
  /** The address of the socket in use; the first one if there is none. */
  url(): string;
  /** Whether the venue says on the socket in use that it does not trade. */
  isHalted(): boolean;
  /** Why there is no socket; null if there is one, and until the first attempt has ended. */
  down(): Cause | null;
  close(): void;
}

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

export function startReconnectingSocket(options: ReconnectingSocketOptions): ReconnectingSocket {
  const { subscriptions, maxConnectionMs, alternatives = [] } = options;
  const { overlapMs = usualOverlapMs } = options.patience ?? {};
  const log = makeSocketLog(options.log, options.url);
  const connectTimer = startConnectTimer(connect, [options.url, ...alternatives], options.openAfterMs, options.clock);
  let current: StreamSession | null = null;
  let next: StreamSession | null = null;
  let down: Cause | null = null;
  let isSettling = false;
  /** The newest open socket fell silent, or never sent a frame: the next may be as mute until its first frame. */
  let fellSilent = false;
  let overlapTimer: NodeJS.Timeout | undefined;

  return {
    opened: () => (current?.isOpen() ? current.opened() : null),
    url: () => current?.url ?? options.url,
    isHalted: () => current?.isHalted() ?? false,
    down: () => down,
    close() {
      connectTimer.stop();
      clearTimeout(overlapTimer);
      log.close();
      current?.close();
      next?.close();
      current = next = null;
    },
  };

  function connect(to: string) {
    isSettling = false;
    next = startSession({ ...options, url: to, onOpen, onSpoke, onServed, onData, onTrouble, onDown });
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
    for (const subscription of subscriptions) handOver(subscription, current);
    log.opened();
    connectTimer.renew(maxConnectionMs);
  }

  function onServed(session: StreamSession, subscription: Subscription) {
    log.served(subscription);
    if (session !== current) return;
    subscription.trouble = null;
    hearSubscription(subscription);
  }

  function onData(session: StreamSession, subscription: Subscription, frame: unknown, arrival: Arrival) {
    if (session === current) countFrame(subscription, frame, arrival);
    else if (!isSettling && session.heard.size === subscriptions.length) {
      isSettling = true;
      takeOverIn(settleMs);
    }
  }

  function onTrouble(session: StreamSession, subscription: Subscription, trouble: SubscriptionError) {
    log.trouble(subscription, trouble);
    if (alternatives.length > 0) return leave(session, `no ${subscription.stream.name}: ${trouble.kind}`);
    if (session !== current) return;
    subscription.meter.lost();
    subscription.trouble = trouble;
  }

  /** A node of a third party that does not serve a stream is left for another one. */
  function leave(session: StreamSession, detail: string) {
    session.close();
    onDown(session, { cause: { fault: "handshake" }, detail, retryAfterMs: 0 });
  }

  function onDown(session: StreamSession, end: Down) {
    const { cause, detail } = end;
    log.down(cause, alternatives.length > 0 ? `${publicAddress(session.url)}: ${detail}` : detail);
    if (session === current) return onCurrentDown(session, end);
    next = null;
    clearTimeout(overlapTimer);
    if (isSilence(session, cause)) fellSilent = true;
    const isPaused = connectTimer.retry(session.url, end);
    if (!current) fall(cause, isPaused);
  }

  function onCurrentDown(session: StreamSession, end: Down) {
    connectTimer.ended(session.url, performance.now() - (session.opened()?.atMs ?? Infinity));
    current = null;
    for (const subscription of subscriptions) subscription.meter.lost();
    // If the newer socket has sent a frame, it is not mute.
    if (!next?.hasSpoken() && isSilence(session, end.cause)) fellSilent = true;
    if (next?.isOpen() && !fellSilent) return takeOver();
    fall(end.cause, next ? false : connectTimer.retry(session.url, end));
  }

  function fall(cause: Cause, isPaused: boolean) {
    down = alternatives.length === 0 || isUnmeasured(cause) ? cause : { unmeasured: "provider" };
    for (const subscription of subscriptions) Object.assign(subscription, { trouble: null, fall: down, isPaused });
  }
}

/** A socket that never opened says nothing about the next one, and neither does probe trouble. */
function isSilence(session: StreamSession, cause: Cause): boolean {
  if (session.opened() === null || isUnmeasured(cause)) return false;
  return cause.fault === "timeout" || !session.hasSpoken();
}

/** A stream that the new socket does not carry yet is lost until it does. Sequence numbers begin again. */
function handOver(subscription: Subscription, to: StreamSession | null) {
  if (!to?.served.has(subscription)) subscription.meter.lost();
  else hearSubscription(subscription);
  subscription.trouble = to?.troubles.get(subscription) ?? null;
  subscription.sequence?.restart();
}

/**
 * If the socket in use had closed before, the time between the two sockets is not counted as silence: the stream starts
 * as a new subscription.
 */
function hearSubscription({ meter }: Subscription) {
  if (!meter.isSubscribed()) meter.subscribed(performance.now());
}

function countFrame({ meter, sequence }: Subscription, frame: unknown, arrival: Arrival) {
  meter.frame(frame, arrival, sequence?.isGap(frame));
}

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

/** The log lines about the sockets of one address, and about their subscriptions. */
export interface SocketLog {
  opened(): void;
  down(cause: Cause, detail: string): void;
  served(subscription: Subscription): void;
  trouble(subscription: Subscription, trouble: SubscriptionError): void;
  close(): void;
}

const troubleMessages: Record<SubscriptionError["kind"], string> = {
  refused: "subscription refused",
  unanswered: "subscription not acknowledged, and no data received, in time",
};

function makeSocketLog(log: Log, address: string): SocketLog {
  const url = publicAddress(address);
  const falls = makeOutage(
    log,
    { begins: "socket down", lasts: "socket still closes, or does not open", over: "socket stays open again" },
    { level: "warn", of: { url } },
  );
  /** The socket closed because of probe trouble, which is logged once for all sockets. */
  let isOurs = false;
  /** The last log line about each stream's subscription. */
  const loggedOf = new Map<Subscription, string>();

  return {
    opened() {
      if (falls.isOn()) falls.succeeded();
      else log[isOurs ? "debug" : "info"]("socket open", { url });
      isOurs = false;
    },
    down(cause, detail) {
      isOurs = isUnmeasured(cause);
      if (isOurs) log.debug("socket down", { url, ...cause, detail });
      else falls.failed("attempts", { ...cause, detail });
    },
    served(subscription) {
      loggedOf.delete(subscription);
    },
    trouble(subscription, { kind, words }) {
      const fields = words === null ? {} : { words };
      // the subscription is retried every twenty seconds, usually with the same result
      const line = `${troubleMessages[kind]} ${words}`;
      if (loggedOf.get(subscription) !== line)
        log.warn(troubleMessages[kind], { url, stream: subscription.stream.name, ...fields });
      loggedOf.set(subscription, line);
    },
    close: () => falls.close(),
  };
}
