import { jsonLimits } from "../../../shared/http/limits.js";
import { parsedJson } from "../../../shared/http/parsed-json.js";
import type { Log } from "../../../shared/log/log.js";
import { publicAddress } from "../../../shared/registry/addresses.js";
import { parseJsonPath } from "../../../shared/registry/json-path.js";
import {
  type AnyOf,
  type Condition,
  conditionsOf,
  type FrameCompression,
  type KeepAlive,
  type SocketConfig,
  type Stream,
} from "../../../shared/registry/registry.js";
import type { Resolver } from "../../network/resolver.js";
import {
  alternativesOf,
  type ChannelNumbers,
  compileAnyOf,
  compileConditions,
  compileMatch,
  type FrameCheck,
} from "../rest/checks.js";
import type { Arrival, Flow } from "./inflow.js";
import { makeSocketTimers, startKeepAlive } from "./keepalive.js";
import { refusalWords } from "./refusals.js";
import { type Down, openSocket, type VenueSocket } from "./socket.js";
import type { Subscription, SubscriptionError } from "./subscription.js";
import {
  type AnswerPatience,
  betweenMessagesMs,
  makeSocketSubscriptions,
  type SocketSubscriptions,
  usualAnswerPatience,
} from "./subscriptions.js";

export interface SessionOptions {
  url: string;
  /** The headers for an address; default: none. */
  headersAt?: (url: string) => Record<string, string>;
  /** Conditions of the venue's welcome frame; no subscription is sent before it. */
  welcome?: readonly Condition[] | undefined;
  /** A frame that refuses our country or address. */
  blocked?: AnyOf | undefined;
  /** A frame that asks us to wait. */
  limited?: AnyOf | undefined;
  /** A frame that says that the venue does not trade. */
  halted?: AnyOf | undefined;
  /** Of each binary frame. */
  compression?: FrameCompression | undefined;
  keepAlive: KeepAlive;
  subscriptions: readonly Subscription[];
  userAgent: string;
  resolver: Resolver;
  /** Trusted authorities, as PEM; default: those of Node. */
  ca?: string;
  log: Log;
  onOpen(session: StreamSession): void;
  /** The first frame of any kind arrived, which may be a pong. */
  onSpoke?(session: StreamSession): void;
  /** The stream is served: its subscription was acknowledged, or it sent data, for the first time or after trouble. */
  onServed(session: StreamSession, subscription: Subscription): void;
  /** `frame` is parsed. */
  onData(session: StreamSession, subscription: Subscription, frame: unknown, arrival: Arrival): void;
  /** For frames that are no stream's data: parsed, or a text that is not JSON. `isAnswered`: by the keep-alive rule. */
  onOther?(frame: unknown, isAnswered: boolean): void;
  onTrouble(session: StreamSession, subscription: Subscription, trouble: SubscriptionError): void;
  onDown(session: StreamSession, down: Down): void;
  patience?: Partial<Patience>;
  /** Limits of what the peer may send. Changed only by benchmarks and tests. */
  flow?: Flow;
}

/** One socket from its opening to its end: subscribes, keeps it alive, and assigns its frames to streams. */
export interface StreamSession extends Pick<SocketSubscriptions, "served" | "heard" | "troubles"> {
  url: string;
  opened(): VenueSocket["opened"];
  /** False from the moment it ends, although it may take some seconds until `onDown` reports the cause. */
  isOpen(): boolean;
  /** Whether a frame of any kind has arrived. */
  hasSpoken(): boolean;
  /** Whether the venue says on this socket that it does not trade. */
  isHalted(): boolean;
  /** Pings the open socket, and gives it up unless a frame arrives in time. */
  mustSpeak(): void;
  close(): void;
}

export interface Patience extends AnswerPatience {
  /** How long to wait for the welcome of a venue that sends one. */
  welcomeWithinMs: number;
  /** Timeout of the ping of `mustSpeak`: a frame must arrive within it. */
  speakWithinMs: number;
}

/** A welcome arrives within a round trip, or the venue no longer sends one. */
const usualPatience: Patience = { ...usualAnswerPatience, welcomeWithinMs: 3_000, speakWithinMs: 10_000 };

/** Acknowledgements and errors are short; a longer frame that is no stream's data is ignored. */
const longestNotice = 64 * 1024;

const refusalMessages = { blocked: "the venue refuses us", limited: "the venue asks us to wait" };

// eslint-disable-next-line max-lines-per-function -- all steps share the state of one socket
export function startSession(options: SessionOptions): StreamSession {
  const { url, headersAt, subscriptions, userAgent, resolver, ca, flow } = options;
  const patience = { ...usualPatience, ...options.patience };
  const isDataOf = new Map(subscriptions.map((subscription) => [subscription, compileFrameMatch(subscription.stream)]));
  const isWelcome = options.welcome && compileConditions(options.welcome);
  const words = makeFrameWords(options);
  const timers = makeSocketTimers();
  let channels: ChannelNumbers = new Map();
  let isWelcomed = false;
  let keepAlive: ReturnType<typeof startKeepAlive> | undefined;
  let hasSpoken = false;

  const socket = openSocket({
    ...{ url, headers: headersAt?.(url), userAgent, resolver, onOpen, onHeard, onMessage },
    ...(ca !== undefined && { ca }),
    ...(flow && { flow }),
    compression: options.compression,
    onDown(down) {
      stop();
      options.onDown(session, down);
    },
  });
  const socketSubscriptions = makeSocketSubscriptions({
    ...{ subscriptions, socket, timers, patience },
    onServed: (subscription) => options.onServed(session, subscription),
    onTrouble: (subscription, trouble) => options.onTrouble(session, subscription, trouble),
  });
  const { served, heard, troubles } = socketSubscriptions;
  const session: StreamSession = {
    url,
    opened: () => socket.opened,
    isOpen: () => socket.opened !== null && !socket.isEnded(),
    hasSpoken: () => hasSpoken,
    isHalted: words.isHalted,
    ...{ mustSpeak, served, heard, troubles },
    close() {
      stop();
      socket.close();
    },
  };
  return session;

  function onOpen() {
    keepAlive = startKeepAlive(options.keepAlive, {
      ping: socket.ping,
      send: socket.send,
      onDead: (reason) => socket.giveUp({ fault: "timeout" }, reason),
    });
    options.onOpen(session);
    if (!isWelcome) return welcomed();
    timers.after(patience.welcomeWithinMs, welcomed);
  }

  function mustSpeak() {
    const { speakWithinMs } = patience;
    socket.ping();
    timers.judgeAfter(speakWithinMs, () => {
      if (!hasSpoken) socket.giveUp({ fault: "timeout" }, `no frame within ${speakWithinMs} ms of a ping`);
    });
  }

  function onHeard({ atMs }: Arrival) {
    keepAlive?.heard(atMs);
    if (hasSpoken) return;
    hasSpoken = true;
    options.onSpoke?.(session);
  }

  /** The venue is ready: it sent its welcome, sends none, or is late with it. */
  function welcomed() {
    if (isWelcomed) return;
    isWelcomed = true;
    const saidAlready = options.keepAlive.send.kind === "once";
    if (saidAlready) timers.after(betweenMessagesMs, socketSubscriptions.begin);
    else socketSubscriptions.begin();
  }

  /** A frame that makes the probe throw ends its socket, but never the program. */
  function onMessage(frame: Buffer, arrival: Arrival) {
    try {
      onFrame(frame, arrival);
    } catch (error) {
      options.log.error("failed to handle a frame; this is a bug of the probe", { url: publicAddress(url), error });
      socket.giveUp({ unmeasured: "broken" }, "the probe failed to handle a frame");
    }
  }

  function onFrame(frame: Buffer, arrival: Arrival) {
    const value = parsedFrame(frame);
    const isShort = frame.length <= longestNotice;
    if (value === undefined) {
      if (isShort) onText(frame.toString("utf8"));
      return;
    }
    const spoken = subscriptions.filter((subscription) => isDataOf.get(subscription)!(value, channels));
    for (const subscription of spoken)
      if (heard.has(subscription) || socketSubscriptions.hear(subscription))
        options.onData(session, subscription, value, arrival);
    if (spoken.length > 0) return;
    const isAnswered = isShort && onNotice(value);
    options.onOther?.(value, isAnswered);
  }

  function onText(text: string) {
    onWords(text);
    options.onOther?.(text, false);
  }

  /** @param frame a text if it is not JSON */
  function onWords(frame: unknown) {
    const refusal = words.hear(frame);
    if (refusal !== null) socket.blame(refusal, `${refusalMessages[refusal]}: ${refusalWords(frame)}`);
  }

  /** Returns whether the keep-alive rule answered it. */
  function onNotice(frame: unknown): boolean {
    onWords(frame);
    if (socket.isEnded()) return false;
    if (!isWelcomed && isWelcome?.(frame)) welcomed();
    const isAnswered = keepAlive?.answer(frame, channels) ?? false;
    channels = withChannel(frame, channels, subscriptions.length);
    socketSubscriptions.onNotice(frame);
    return isAnswered;
  }

  function stop() {
    keepAlive?.stop();
    timers.stop();
  }
}

/**
 * Some frames are not JSON: bare words (`pong`), truncated frames, and errors of a venue.
 *
 * @returns undefined if the frame is not JSON, or has too many parts to be parsed
 */
export function parsedFrame(frame: Buffer): unknown {
  const parsed = parsedJson(frame, jsonLimits.frame);
  return "value" in parsed ? parsed.value : undefined;
}

/** Checks whether a parsed frame is data of a stream: all of `match` holds, and `ignore` does not. */
export function compileFrameMatch({ match, ignore }: Pick<Stream, "match" | "ignore">): FrameCheck {
  const tests = conditionsOf(match).map(compileMatch);
  const isIgnored = ignore ? compileMatch(ignore) : () => false;
  return (frame, channels) => tests.every((test) => test(frame, channels)) && !isIgnored(frame, channels);
}

// A venue's statements about itself on a socket, in frames that are no stream's data.

export interface FrameWords {
  /** Records a frame. Returns whether it refuses our country or address, or asks us to wait. */
  hear(frame: unknown): "blocked" | "limited" | null;
  /** Whether the venue has said that it does not trade, and has not said otherwise since. */
  isHalted: () => boolean;
}

/** @param words of the registry; a frame that is not JSON is a text at `$` */
export function makeFrameWords({
  blocked,
  limited,
  halted,
}: Pick<SocketConfig, "blocked" | "limited" | "halted">): FrameWords {
  const isBlock = compileAnyOf(blocked);
  const isLimit = compileAnyOf(limited);
  const tests = alternativesOf(halted).map((conditions) => ({
    holds: compileConditions(conditions),
    isAnswered: compileAnswered(conditions),
  }));
  /** Tests that held. Each is over when a frame says something else in the same places. */
  const holding = new Set<(typeof tests)[number]>();

  return {
    hear(frame) {
      for (const test of tests)
        if (test.holds(frame)) holding.add(test);
        else if (test.isAnswered(frame)) holding.delete(test);
      if (isBlock(frame)) return "blocked";
      return isLimit(frame) ? "limited" : null;
    },
    isHalted: () => holding.size > 0,
  };
}

/** Whether a frame has values at all paths of the conditions. */
function compileAnswered(conditions: readonly Condition[]): (frame: unknown) => boolean {
  const values = conditions.flatMap((condition) => ("path" in condition ? parseJsonPath(condition.path) : []));
  return (frame) => values.every((valueOf) => valueOf(frame) != null);
}

/** Bitfinex announces a channel's number once, and its frames carry nothing else to identify the channel. */
export function withChannel(frame: unknown, channels: ChannelNumbers, atMost: number): ChannelNumbers {
  const { event, channel, chanId } = Object(frame) as Record<string, unknown>;
  if (event !== "subscribed" || typeof channel !== "string") return channels;
  if (!channels.has(channel) && channels.size >= atMost) return channels;
  return new Map(channels).set(channel, chanId);
}
