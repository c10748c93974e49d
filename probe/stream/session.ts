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
  /** What holds of the frame with which the venue begins; nothing is asked for before. */
  welcome?: readonly Condition[] | undefined;
  keepAlive: KeepAlive;
  feeds: readonly Subscription[];
  userAgent: string;
  resolver: Resolver;
  /** PEM: the authorities to trust; those of Node when not given. */
  ca?: string;
  log: Log;
  onOpen(session: StreamSession): void;
  /** The first frame came, of whatever kind: a pong will do. */
  onSpoke?(session: StreamSession): void;
  /** The stream is served: its subscription was acknowledged, or it spoke, for the first time or after trouble. */
  onServed(session: StreamSession, feed: Subscription): void;
  /** `frame` is parsed. */
  onData(session: StreamSession, feed: Subscription, frame: unknown, arrival: Arrival): void;
  onTrouble(session: StreamSession, feed: Subscription, trouble: SubscriptionError): void;
  onDown(session: StreamSession, down: Down): void;
  patience?: Partial<Patience>;
  /** What is taken from the peer; not to be changed but to measure how fast we are. */
  flow?: Flow;
}

/** One socket from its opening to its end: subscribed, kept alive, its frames told apart. */
export interface StreamSession {
  opened(): VenueSocket["opened"];
  /** Not so any more from when it ends, though whose fault that is may take some seconds to tell. */
  isOpen(): boolean;
  /** Whether a frame has come, of whatever kind. */
  hasSpoken(): boolean;
  /** Pings it, once it is open: it is given up unless it has spoken in time. */
  mustSpeak(): void;
  /** Streams that were acknowledged, or have spoken. */
  served: ReadonlySet<Subscription>;
  /** Streams that have sent data. */
  heard: ReadonlySet<Subscription>;
  /** Streams that are not served, and why. */
  troubles: ReadonlyMap<Subscription, SubscriptionError>;
  close(): void;
}

export interface Patience {
  /** How long after a subscription it must have been acknowledged, or data have come. */
  answerWithinMs: number;
  /** How long after a subscription it is sent again, on the same socket, unless the stream is served by then. */
  askAgainFirstMs: number;
  /** Each time it waits twice as long, up to this: then one of the socket's subscriptions is sent each so often. */
  askAgainMs: number;
  /** How long the welcome is waited for where the venue sends one. */
  welcomeWithinMs: number;
  /** How long after the ping a socket that must speak must have sent its first frame. */
  speakWithinMs: number;
}

/**
 * A socket that opens has ten seconds for it, and so has a subscription. It is sent again after half of that: a venue
 * may drop what comes before it is ready. In the end one every twenty seconds, for the end of an incident is when we
 * find out that a venue has recovered. That is 180 an hour; with those out of turn it keeps to the ration of the
 * strictest venue, 240 an hour and socket at Bitget. A welcome comes within a round trip, or the venue sends none any
 * more.
 */
const usualPatience: Patience = {
  answerWithinMs: 10_000,
  askAgainFirstMs: 5_000,
  askAgainMs: 20_000,
  welcomeWithinMs: 3_000,
  speakWithinMs: 10_000,
};

/** Venues take five messages a second or more; Binance counts pings too. */
const betweenMessagesMs = 250;

/** Acknowledgements and errors are short; what is longer and no stream's data is not looked at. */
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
  /** When each was first asked for. */
  const asked = new Map<Subscription, number>();
  const timesAsked = new Map<Subscription, number>();
  /** Of the newest refusal that says nothing of what it refuses: it may be why a stream stays unanswered. */
  let unnamedWords: string | null = null;
  const served = new Set<Subscription>();
  const heard = new Set<Subscription>();
  const troubles = new Map<Subscription, SubscriptionError>();
  const turns = makeSubscriptionRetries(patience.askAgainFirstMs, patience.askAgainMs);
  /** Those that will be sent again. */
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
      // After a standstill of ours, timers run before what came meanwhile is read.
      setImmediate(() => {
        if (hasSpoken) return;
        const detail = `nothing came within ${speakWithinMs} ms of a ping`;
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

  /** The venue is ready, for all that is known. */
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
      // After a standstill of ours, timers run before what came meanwhile is read.
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

  /** What a frame breaks in us costs its socket, never the program. */
  function onMessage(frame: Buffer, arrival: Arrival) {
    try {
      onFrame(frame, arrival);
    } catch (error) {
      options.log.error("a frame broke the probe; this is a bug of ours", {
        url,
        error,
      });
      socket.giveUp({ unmeasured: "broken" }, "a frame broke the probe");
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
    // It was sent again before its answer came: the venue says that once is enough.
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

/** Bitfinex tells a channel's number once, and by nothing else are its frames known. */
export function withChannel(frame: unknown, channels: ChannelNumbers, atMost: number): ChannelNumbers {
  const { event, channel, chanId } = Object(frame) as Record<string, unknown>;
  if (event !== "subscribed" || typeof channel !== "string") return channels;
  if (!channels.has(channel) && channels.size >= atMost) return channels;
  return new Map(channels).set(channel, chanId);
}
