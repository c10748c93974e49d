import type { Log } from "../../shared/log/log.js";
import { publicAddress } from "../../shared/registry/public-address.js";
import type { AnyOf, Condition, KeepAlive } from "../../shared/registry/registry.js";
import type { Cause } from "../rest/failure-cause.js";
import type { Clock } from "../schedule/clock.js";
import { startConnectTimer } from "./connect-timer.js";
import type { Arrival, Flow } from "./inflow.js";
import type { Subscription, SubscriptionError } from "./subscription.js";
import { isUnmeasured } from "../rest/measurement.js";
import type { Resolver } from "../network/resolver.js";
import { startSession, type Patience, type StreamSession } from "./session.js";
import type { VenueSocket } from "./socket.js";
import type { Down } from "./socket-ending.js";
import { makeSocketLog } from "./socket-log.js";

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
    hear(subscription);
  }

  function onData(session: StreamSession, subscription: Subscription, frame: unknown, arrival: Arrival) {
    if (session === current) count(subscription, frame, arrival);
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
  else hear(subscription);
  subscription.trouble = to?.troubles.get(subscription) ?? null;
  subscription.sequence?.restart();
}

/**
 * If the socket in use had closed before, the time between the two sockets is not counted as silence: the stream starts
 * as a new subscription.
 */
function hear({ meter }: Subscription) {
  if (!meter.isSubscribed()) meter.subscribed(performance.now());
}

function count({ meter, sequence }: Subscription, frame: unknown, arrival: Arrival) {
  meter.frame(frame, arrival, sequence?.isGap(frame));
}
