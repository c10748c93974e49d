import type { Log } from "../../shared/log/log.js";
import type { Condition, KeepAlive } from "../../shared/registry/registry.js";
import { compileAcknowledgement } from "./acknowledgement.js";
import { compileConditions, compileMatch, type ChannelNumbers } from "../rest/checks.js";
import type { Subscription, SubscriptionError } from "./subscription.js";
import { compileFrameMatch, parsedFrame } from "./frame-match.js";
import { messageText, startKeepAlive } from "./keepalive.js";
import { isRefusal, namesNone, refusedFeed } from "./refusal.js";
import { refusalWords } from "./refusal-words.js";
import type { Resolver } from "../network/resolver.js";
import { openSocket, type Arrival, type Down, type Flow, type VenueSocket } from "./socket.js";
import { makeSubscriptionRetries } from "./subscription-retries.js";

export interface SessionOptions {
  url: string;
  /** Conditions of the venue's welcome frame; no subscription is sent before it. */
  welcome?: readonly Condition[] | undefined;
  keepAlive: KeepAlive;
  feeds: readonly Subscription[];
  userAgent: string;
  resolver: Resolver;
  /** Trusted authorities, as PEM; default: those of Node. */
  ca?: string;
  log: Log;
  onOpen(session: StreamSession): void;
  /** The first frame of any kind arrived, which may be a pong. */
  onSpoke?(session: StreamSession): void;
  /** The stream is served: its subscription was acknowledged, or it sent data, for the first time or after trouble. */
  onServed(session: StreamSession, feed: Subscription): void;
  /** `frame` is parsed. */
  onData(session: StreamSession, feed: Subscription, frame: unknown, arrival: Arrival): void;
  onTrouble(session: StreamSession, feed: Subscription, trouble: SubscriptionError): void;
  onDown(session: StreamSession, down: Down): void;
  patience?: Partial<Patience>;
  /** Limits of what the peer may send. Changed only by benchmarks and tests. */
  flow?: Flow;
}

/** One socket from its opening to its end: subscribes, keeps it alive, and assigns its frames to streams. */
export interface StreamSession {
  opened(): VenueSocket["opened"];
  /** False from the moment it ends, although it may take some seconds until `onDown` reports the cause. */
  isOpen(): boolean;
  /** Whether a frame of any kind has arrived. */
  hasSpoken(): boolean;
  /** Pings the open socket, and gives it up unless a frame arrives in time. */
  mustSpeak(): void;
  /** Streams that were acknowledged, or have sent data. */
  served: ReadonlySet<Subscription>;
  /** Streams that have sent data. */
  heard: ReadonlySet<Subscription>;
  /** Streams that are not served, and why. */
  troubles: ReadonlyMap<Subscription, SubscriptionError>;
  close(): void;
}

export interface Patience {
  /** Timeout of a subscription: an acknowledgement or data must arrive within it. */
  answerWithinMs: number;
  /** Delay of the first retry of a subscription, on the same socket, unless the stream is served by then. */
  askAgainFirstMs: number;
  /** Maximum delay of retries. After it is reached, one of the socket's subscriptions is retried at this interval. */
  askAgainMs: number;
  /** How long to wait for the welcome of a venue that sends one. */
  welcomeWithinMs: number;
  /** Timeout of the ping of `mustSpeak`: a frame must arrive within it. */
  speakWithinMs: number;
}

/**
 * A subscription has ten seconds, like the opening of a socket. It is retried after half of that, because a venue may
 * drop messages that arrive before it is ready. In the end one subscription is retried every twenty seconds, because an
 * incident ends only when we notice that the venue has recovered. That is 180 an hour. With the retries out of turn it
 * is below the limit of the strictest venue, 240 an hour and socket at Bitget. A welcome arrives within a round trip,
 * or the venue does not send one any more.
 */
const usualPatience: Patience = {
  answerWithinMs: 10_000,
  askAgainFirstMs: 5_000,
  askAgainMs: 20_000,
  welcomeWithinMs: 3_000,
  speakWithinMs: 10_000,
};

/** Venues accept five messages a second or more; Binance counts pings, too. */
const betweenMessagesMs = 250;

/** Acknowledgements and errors are short; a longer frame that is no stream's data is ignored. */
const longestNotice = 64 * 1024;

export function startSession(options: SessionOptions): StreamSession {
  const { url, feeds, userAgent, resolver, ca, flow } = options;
  const patience = { ...usualPatience, ...options.patience };
  const { send, respond } = options.keepAlive;
  const mustAnswer = respond ? compileMatch(respond.when) : () => false;
  const isDataOf = new Map(feeds.map((feed) => [feed, compileFrameMatch(feed.stream)]));
  const acknowledged = compileAcknowledgement(feeds);
  const isWelcome = options.welcome && compileConditions(options.welcome);
  let channels: ChannelNumbers = new Map();
  let isWelcomed = false;
  /** When each subscription was first sent. */
  const asked = new Map<Subscription, number>();
  const timesAsked = new Map<Subscription, number>();
  /** Text of the newest refusal that names no subscription: it may be why a stream stays unanswered. */
  let unnamedWords: string | null = null;
  const served = new Set<Subscription>();
  const heard = new Set<Subscription>();
  const troubles = new Map<Subscription, SubscriptionError>();
  const turns = makeSubscriptionRetries(patience.askAgainFirstMs, patience.askAgainMs);
  /** The scheduled retries. */
  const waiting = new Map<Subscription, NodeJS.Timeout>();
  const timers = new Set<NodeJS.Timeout>();
  let keepAlive: ReturnType<typeof startKeepAlive> | undefined;
  let hasSpoken = false;

  const socket = openSocket({
    url,
    userAgent,
    resolver,
    ...(ca !== undefined && { ca }),
    ...(flow && { flow }),
    onOpen,
    onHeard,
    onMessage,
    onDown(down) {
      stop();
      options.onDown(session, down);
    },
  });
  const session: StreamSession = {
    opened: () => socket.opened,
    isOpen: () => socket.opened !== null && !socket.isEnded(),
    hasSpoken: () => hasSpoken,
    mustSpeak,
    served,
    heard,
    troubles,
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
    after(patience.welcomeWithinMs, welcomed);
  }

  function mustSpeak() {
    const { speakWithinMs } = patience;
    socket.ping();
    after(speakWithinMs, () =>
      // After a standstill of this process, timers run before the data that arrived meanwhile is read.
      setImmediate(() => {
        if (hasSpoken) return;
        const detail = `no frame within ${speakWithinMs} ms of a ping`;
        socket.giveUp({ fault: "timeout" }, detail);
      }),
    );
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
    const saidAlready = send.kind === "once";
    if (saidAlready) after(betweenMessagesMs, subscribeNext);
    else subscribeNext();
  }

  function subscribeNext() {
    const feed = feeds[asked.size];
    if (!feed) return;
    asked.set(feed, performance.now());
    if (!feed.stream.acknowledge) serve(feed);
    else awaitAnswer(feed);
    subscribe(feed);
    after(betweenMessagesMs, subscribeNext);
  }

  function subscribe(feed: Subscription) {
    timesAsked.set(feed, (timesAsked.get(feed) ?? 0) + 1);
    socket.send(messageText(feed.stream.subscribe));
    if (!served.has(feed)) askAgain(feed);
  }

  function awaitAnswer(feed: Subscription) {
    after(patience.answerWithinMs, () =>
      // After a standstill of this process, timers run before the data that arrived meanwhile is read.
      setImmediate(() => {
        if (socket.isEnded() || served.has(feed) || troubles.has(feed)) return;
        const askedMs = asked.get(feed)!;
        trouble(feed, { kind: "unanswered", askedMs, words: unnamedWords });
      }),
    );
  }

  function trouble(feed: Subscription, told: SubscriptionError) {
    served.delete(feed);
    heard.delete(feed);
    troubles.set(feed, told);
    options.onTrouble(session, feed, told);
    if (!waiting.has(feed)) askAgain(feed);
  }

  function askAgain(feed: Subscription) {
    const times = timesAsked.get(feed)!;
    askAgainIn(turns.waitMs(times, performance.now()), feed);
  }

  function askAgainIn(ms: number, feed: Subscription) {
    cancel(waiting.get(feed));
    const timer = after(ms, () => {
      waiting.delete(feed);
      subscribe(feed);
    });
    waiting.set(feed, timer);
  }

  function serve(feed: Subscription) {
    const wasInTrouble = troubles.delete(feed);
    served.add(feed);
    cancel(waiting.get(feed));
    waiting.delete(feed);
    options.onServed(session, feed);
    if (wasInTrouble) hurryOthers();
  }

  /** A venue that serves one stream again may serve all. */
  function hurryOthers() {
    const nowMs = performance.now();
    [...troubles.keys()]
      .filter((feed) => waiting.has(feed) && turns.mayHurry(nowMs))
      .forEach((feed, place) => askAgainIn((place + 1) * betweenMessagesMs, feed));
  }

  /** A frame that makes the probe throw costs its socket, but never the program. */
  function onMessage(frame: Buffer, arrival: Arrival) {
    try {
      onFrame(frame, arrival);
    } catch (error) {
      options.log.error("the probe failed to handle a frame; this is a bug of the probe", {
        url,
        error,
      });
      socket.giveUp({ unmeasured: "broken" }, "the probe failed to handle a frame");
    }
  }

  function onFrame(frame: Buffer, arrival: Arrival) {
    const value = parsedFrame(frame);
    if (value === undefined) return;
    const spoken = feeds.filter((feed) => isDataOf.get(feed)!(value, channels));
    for (const feed of spoken) onStreamData(feed, value, arrival);
    if (spoken.length === 0 && frame.length <= longestNotice) onNotice(value);
  }

  function onStreamData(feed: Subscription, frame: unknown, arrival: Arrival) {
    if (!asked.has(feed)) return;
    heard.add(feed);
    if (!served.has(feed)) serve(feed);
    options.onData(session, feed, frame, arrival);
  }

  function onNotice(frame: unknown) {
    if (!isWelcomed && isWelcome?.(frame)) welcomed();
    if (respond && mustAnswer(frame, channels)) socket.send(messageText(respond.message));
    channels = withChannel(frame, channels, feeds.length);
    const silent = [...asked.keys()].filter((feed) => !heard.has(feed));
    if (isRefusal(frame)) return onRefusal(frame, silent);
    const waiting = silent.filter((feed) => !served.has(feed));
    const feed = acknowledged(frame, waiting);
    if (feed) serve(feed);
  }

  function onRefusal(frame: unknown, silent: Subscription[]) {
    const feed = refusedFeed(frame, [...asked.keys()], silent);
    if (!feed && namesNone(frame, [...asked.keys()])) unnamedWords = refusalWords(frame);
    if (!feed || troubles.get(feed)?.kind === "refused") return;
    // A retry crossed the acknowledgement: the venue only refuses the duplicate.
    if (served.has(feed) && timesAsked.get(feed)! > 1) return;
    const askedMs = asked.get(feed)!;
    trouble(feed, { kind: "refused", askedMs, words: refusalWords(frame) });
  }

  function after(ms: number, run: () => void) {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
    return timer;
  }

  function cancel(timer: NodeJS.Timeout | undefined) {
    if (timer === undefined) return;
    clearTimeout(timer);
    timers.delete(timer);
  }

  function stop() {
    keepAlive?.stop();
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
  }
}

/** Bitfinex announces a channel's number once, and its frames carry nothing else to identify the channel. */
export function withChannel(frame: unknown, channels: ChannelNumbers, atMost: number): ChannelNumbers {
  const { event, channel, chanId } = Object(frame) as Record<string, unknown>;
  if (event !== "subscribed" || typeof channel !== "string") return channels;
  if (!channels.has(channel) && channels.size >= atMost) return channels;
  return new Map(channels).set(channel, chanId);
}
