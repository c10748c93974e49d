import { compileAcknowledgement } from "./acknowledgement.js";
import { messageText } from "./keepalive.js";
import { isRefusal, namesNone, refusedFeed } from "./refusal.js";
import { refusalWords } from "./refusal-words.js";
import type { SocketTimers } from "./socket-timers.js";
import type { VenueSocket } from "./socket.js";
import { makeSubscriptionRetries } from "./subscription-retries.js";
import type { Subscription, SubscriptionError } from "./subscription.js";

export interface SocketSubscriptionsOptions {
  feeds: readonly Subscription[];
  socket: Pick<VenueSocket, "send" | "isEnded">;
  timers: SocketTimers;
  patience: AnswerPatience;
  /** The stream is served: its subscription was acknowledged, or it sent data, for the first time or after trouble. */
  onServed(feed: Subscription): void;
  onTrouble(feed: Subscription, trouble: SubscriptionError): void;
}

/** The subscriptions of one socket: sends them, reads the venue's answers, and retries those that are not served. */
export interface SocketSubscriptions {
  /** Sends the subscriptions one after the other. */
  begin: () => void;
  /** Must be called for data of a stream that is not in `heard`. Returns whether its subscription was sent. */
  hear(feed: Subscription): boolean;
  /** Must be called for each frame that is no stream's data. */
  onNotice(frame: unknown): void;
  /** Streams that were acknowledged, or have sent data. */
  served: ReadonlySet<Subscription>;
  /** Streams that have sent data. */
  heard: ReadonlySet<Subscription>;
  /** Streams that are not served, and why. */
  troubles: ReadonlyMap<Subscription, SubscriptionError>;
}

export interface AnswerPatience {
  /** Timeout of a subscription: an acknowledgement or data must arrive within it. */
  answerWithinMs: number;
  /** Delay of the first retry of a subscription, on the same socket, unless the stream is served by then. */
  askAgainFirstMs: number;
  /** Maximum delay of retries. After it is reached, one of the socket's subscriptions is retried at this interval. */
  askAgainMs: number;
}

/**
 * A subscription has ten seconds, like the opening of a socket. It is retried after half of that, because a venue may
 * drop messages that arrive before it is ready. In the end one subscription is retried every twenty seconds, because an
 * incident ends only when we notice that the venue has recovered. That is 180 an hour. With the retries out of turn it
 * is below the limit of the strictest venue, 240 an hour and socket at Bitget.
 */
export const usualAnswerPatience: AnswerPatience = {
  answerWithinMs: 10_000,
  askAgainFirstMs: 5_000,
  askAgainMs: 20_000,
};

/** Venues accept five messages a second or more; Binance counts pings, too. */
export const betweenMessagesMs = 250;

export function makeSocketSubscriptions(options: SocketSubscriptionsOptions): SocketSubscriptions {
  const { feeds, socket, timers, patience } = options;
  const acknowledged = compileAcknowledgement(feeds);
  const turns = makeSubscriptionRetries(patience.askAgainFirstMs, patience.askAgainMs);
  /** When each subscription was first sent. */
  const asked = new Map<Subscription, number>();
  const timesAsked = new Map<Subscription, number>();
  /** The scheduled retries. */
  const waiting = new Map<Subscription, NodeJS.Timeout>();
  const served = new Set<Subscription>();
  const heard = new Set<Subscription>();
  const troubles = new Map<Subscription, SubscriptionError>();
  /** Text of the newest refusal that names no subscription: it may be why a stream stays unanswered. */
  let unnamedWords: string | null = null;
  return { begin: askNext, hear, onNotice, served, heard, troubles };

  function askNext() {
    const feed = feeds[asked.size];
    if (!feed) return;
    asked.set(feed, performance.now());
    if (!feed.stream.acknowledge) serve(feed);
    else awaitAnswer(feed);
    ask(feed);
    timers.after(betweenMessagesMs, askNext);
  }

  function ask(feed: Subscription) {
    timesAsked.set(feed, (timesAsked.get(feed) ?? 0) + 1);
    socket.send(messageText(feed.stream.subscribe));
    if (!served.has(feed)) askAgain(feed);
  }

  function awaitAnswer(feed: Subscription) {
    timers.judgeAfter(patience.answerWithinMs, () => {
      if (socket.isEnded() || served.has(feed) || troubles.has(feed)) return;
      const askedMs = asked.get(feed)!;
      fail(feed, { kind: "unanswered", askedMs, words: unnamedWords });
    });
  }

  function hear(feed: Subscription) {
    if (!asked.has(feed)) return false;
    heard.add(feed);
    if (!served.has(feed)) serve(feed);
    return true;
  }

  function onNotice(frame: unknown) {
    const silent = [...asked.keys()].filter((feed) => !heard.has(feed));
    if (isRefusal(frame)) return onRefusal(frame, silent);
    const unserved = silent.filter((feed) => !served.has(feed));
    const feed = acknowledged(frame, unserved);
    if (feed) serve(feed);
  }

  function onRefusal(frame: unknown, silent: Subscription[]) {
    const feed = refusedFeed(frame, [...asked.keys()], silent);
    if (!feed && namesNone(frame, [...asked.keys()])) unnamedWords = refusalWords(frame);
    if (!feed || troubles.get(feed)?.kind === "refused") return;
    // A retry crossed the acknowledgement: the venue only refuses the duplicate.
    if (served.has(feed) && timesAsked.get(feed)! > 1) return;
    const askedMs = asked.get(feed)!;
    fail(feed, { kind: "refused", askedMs, words: refusalWords(frame) });
  }

  function serve(feed: Subscription) {
    const wasInTrouble = troubles.delete(feed);
    served.add(feed);
    timers.cancel(waiting.get(feed));
    waiting.delete(feed);
    options.onServed(feed);
    if (wasInTrouble) hurryOthers();
  }

  function fail(feed: Subscription, trouble: SubscriptionError) {
    served.delete(feed);
    heard.delete(feed);
    troubles.set(feed, trouble);
    options.onTrouble(feed, trouble);
    if (!waiting.has(feed)) askAgain(feed);
  }

  function askAgain(feed: Subscription) {
    const times = timesAsked.get(feed)!;
    askAgainIn(turns.waitMs(times, performance.now()), feed);
  }

  function askAgainIn(ms: number, feed: Subscription) {
    timers.cancel(waiting.get(feed));
    const timer = timers.after(ms, () => {
      waiting.delete(feed);
      ask(feed);
    });
    waiting.set(feed, timer);
  }

  /** A venue that serves one stream again may serve all. */
  function hurryOthers() {
    const nowMs = performance.now();
    [...troubles.keys()]
      .filter((feed) => waiting.has(feed) && turns.mayHurry(nowMs))
      .forEach((feed, place) => askAgainIn((place + 1) * betweenMessagesMs, feed));
  }
}
