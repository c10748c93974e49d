import { compileConditions } from "../rest/checks.js";
import { makeBucket } from "./inflow.js";
import { messageText, type SocketTimers } from "./keepalive.js";
import { refusedSubscription, isRefusal, refusalWords, namesSubscription, isFields } from "./refusals.js";
import type { VenueSocket } from "./socket.js";
import type { Subscription, SubscriptionError } from "./subscription.js";

export interface SocketSubscriptionsOptions {
  subscriptions: readonly Subscription[];
  socket: Pick<VenueSocket, "send" | "isEnded">;
  timers: SocketTimers;
  patience: AnswerPatience;
  /** The stream is served: its subscription was acknowledged, or it sent data, for the first time or after trouble. */
  onServed(subscription: Subscription): void;
  onTrouble(subscription: Subscription, trouble: SubscriptionError): void;
}

/** The subscriptions of one socket: sends them, reads the venue's answers, and retries those that are not served. */
export interface SocketSubscriptions {
  /** Sends the subscriptions one after the other. */
  begin: () => void;
  /** Must be called for data of a stream that is not in `heard`. Returns whether its subscription was sent. */
  hear(subscription: Subscription): boolean;
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
  const { subscriptions, socket, timers, patience } = options;
  const acknowledged = compileAcknowledgement(subscriptions);
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
    const subscription = subscriptions[asked.size];
    if (!subscription) return;
    asked.set(subscription, performance.now());
    if (!subscription.stream.acknowledge) serve(subscription);
    else awaitAnswer(subscription);
    ask(subscription);
    timers.after(betweenMessagesMs, askNext);
  }

  function ask(subscription: Subscription) {
    timesAsked.set(subscription, (timesAsked.get(subscription) ?? 0) + 1);
    socket.send(messageText(subscription.stream.subscribe));
    if (!served.has(subscription)) askAgain(subscription);
  }

  function awaitAnswer(subscription: Subscription) {
    timers.judgeAfter(patience.answerWithinMs, () => {
      if (socket.isEnded() || served.has(subscription) || troubles.has(subscription)) return;
      const askedMs = asked.get(subscription)!;
      fail(subscription, { kind: "unanswered", askedMs, words: unnamedWords });
    });
  }

  function hear(subscription: Subscription) {
    if (!asked.has(subscription)) return false;
    heard.add(subscription);
    if (!served.has(subscription)) serve(subscription);
    return true;
  }

  function onNotice(frame: unknown) {
    const silent = [...asked.keys()].filter((subscription) => !heard.has(subscription));
    if (isRefusal(frame)) return onRefusal(frame, silent);
    const unserved = silent.filter((subscription) => !served.has(subscription));
    const subscription = acknowledged(frame, unserved);
    if (subscription) serve(subscription);
  }

  function onRefusal(frame: unknown, silent: Subscription[]) {
    const subscription = refusedSubscription(frame, [...asked.keys()], silent);
    if (!subscription && namesNone(frame, [...asked.keys()])) unnamedWords = refusalWords(frame);
    if (!subscription || troubles.get(subscription)?.kind === "refused") return;
    // A retry crossed the acknowledgement: the venue only refuses the duplicate.
    if (served.has(subscription) && timesAsked.get(subscription)! > 1) return;
    const askedMs = asked.get(subscription)!;
    fail(subscription, { kind: "refused", askedMs, words: refusalWords(frame) });
  }

  function serve(subscription: Subscription) {
    const wasInTrouble = troubles.delete(subscription);
    served.add(subscription);
    timers.cancel(waiting.get(subscription));
    waiting.delete(subscription);
    options.onServed(subscription);
    if (wasInTrouble) hurryOthers();
  }

  function fail(subscription: Subscription, trouble: SubscriptionError) {
    served.delete(subscription);
    heard.delete(subscription);
    troubles.set(subscription, trouble);
    if (!waiting.has(subscription)) askAgain(subscription);
    // last, because it may end the socket, and so the timers
    options.onTrouble(subscription, trouble);
  }

  function askAgain(subscription: Subscription) {
    const times = timesAsked.get(subscription)!;
    askAgainIn(turns.waitMs(times, performance.now()), subscription);
  }

  function askAgainIn(ms: number, subscription: Subscription) {
    timers.cancel(waiting.get(subscription));
    const timer = timers.after(ms, () => {
      waiting.delete(subscription);
      ask(subscription);
    });
    waiting.set(subscription, timer);
  }

  /** A venue that serves one stream again may serve all. */
  function hurryOthers() {
    const nowMs = performance.now();
    [...troubles.keys()]
      .filter((subscription) => waiting.has(subscription) && turns.mayHurry(nowMs))
      .forEach((subscription, place) => askAgainIn((place + 1) * betweenMessagesMs, subscription));
  }
}

/** Finds the subscription that a frame acknowledges: the first of the waiting ones that it matches. */
export function compileAcknowledgement(
  subscriptions: readonly Subscription[],
): (frame: unknown, waiting: Iterable<Subscription>) => Subscription | null {
  const tests = new Map(
    subscriptions.map((subscription) => {
      const { acknowledge } = subscription.stream;
      return [subscription, acknowledge && compileConditions(acknowledge)];
    }),
  );

  return (frame, waiting) => {
    for (const subscription of waiting) if (tests.get(subscription)?.(frame)) return subscription;
    return null;
  };
}

/** Whether a refusal does not name its subscription, so that it may concern any of `asked`. */
function namesNone(frame: unknown, asked: readonly Subscription[]): boolean {
  return isFields(frame) && !asked.some((subscription) => namesSubscription(frame, subscription.stream.subscribe));
}

/** Schedules retries of unserved subscriptions of one socket. Times are by `performance.now()`. */
export interface SubscriptionRetries {
  /** The delay of the next retry of a subscription that was sent `timesSent` times. */
  waitMs(timesSent: number, nowMs: number): number;
  /** Whether a waiting subscription may be retried out of turn, because the venue has just begun to serve another. */
  mayHurry(nowMs: number): boolean;
}

/** Enough for some recoveries in a row; thirty an hour for a venue that alternately serves and refuses. */
const hurryAllowance = { burst: 6, perSecond: 30 / 3600 };

/** Exponential backoff up to `betweenMs`; after that the socket's subscriptions take turns, one every `betweenMs`. */
export function makeSubscriptionRetries(firstMs: number, betweenMs: number): SubscriptionRetries {
  const hurriesLeft = makeBucket(hurryAllowance);
  let lastTurnMs = -Infinity;

  return {
    waitMs(timesSent, nowMs) {
      const waitMs = firstMs * 2 ** (timesSent - 1);
      if (waitMs < betweenMs) return waitMs;
      lastTurnMs = Math.max(nowMs, lastTurnMs) + betweenMs;
      return lastTurnMs - nowMs;
    },
    mayHurry: (nowMs) => hurriesLeft.take(1, nowMs),
  };
}
