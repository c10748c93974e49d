import { parseJsonPath } from "../../../shared/registry/json-path.js";
import { mapTexts } from "../../../shared/registry/registry-problem.js";
import type { KeepAlive } from "../../../shared/registry/registry.js";
import { type ChannelNumbers, compileMatch } from "../rest/checks.js";

/** Runs a venue's keep-alive rule on one open socket. */
export function startKeepAlive(
  { send, respond, replyWithinMs, deadAfterMs }: KeepAlive,
  actions: KeepAliveActions,
): {
  /** Must be called for every received frame, including pings and pongs, with `performance.now()`. */
  heard(atMs: number): void;
  /** Answers a frame that is no stream's data, if the venue demands an answer to it. Returns whether it does. */
  answer(frame: unknown, channels: ChannelNumbers): boolean;
  stop(): void;
} {
  const mustAnswer = respond ? compileMatch(respond.when) : () => false;
  let heardMs = performance.now();
  let stopped = false;
  let pinger: NodeJS.Timeout | undefined;
  let replyTimer: NodeJS.Timeout | undefined;
  let silenceTimer: NodeJS.Timeout | undefined;

  if (send.kind === "once") actions.send(messageText(send.message));
  else if (send.kind !== "none") pinger = setInterval(sendPing, send.everyMs);
  if (deadAfterMs !== null) watchSilence(deadAfterMs);

  function sendPing() {
    if (send.kind === "ping") actions.ping();
    if (send.kind === "text") actions.send(send.text);
    if (send.kind === "json") actions.send(messageText(send.message));
    if (replyWithinMs !== null) awaitReply(performance.now(), replyWithinMs);
  }

  function awaitReply(sentMs: number, withinMs: number) {
    replyTimer ??= setTimeout(() => {
      replyTimer = undefined;
      onceRead(() => {
        if (heardMs < sentMs) actions.onDead(`no frame within ${withinMs} ms of a ping`);
      });
    }, withinMs);
  }

  function watchSilence(limitMs: number) {
    const leftMs = heardMs + limitMs - performance.now();
    silenceTimer = setTimeout(
      () =>
        onceRead(() => {
          if (performance.now() - heardMs >= limitMs) actions.onDead(`no frame for ${limitMs} ms`);
          else watchSilence(limitMs);
        }),
      Math.ceil(leftMs),
    );
  }

  /** After a standstill of this process, timers run before the data that arrived meanwhile is read. */
  function onceRead(judge: () => void) {
    setImmediate(() => {
      if (!stopped) judge();
    });
  }

  return {
    heard(atMs) {
      heardMs = atMs;
    },
    answer(frame, channels) {
      if (!respond || !mustAnswer(frame, channels)) return false;
      actions.send(answerText(respond.message, frame));
      return true;
    },
    stop() {
      stopped = true;
      clearInterval(pinger);
      clearTimeout(replyTimer);
      clearTimeout(silenceTimer);
    },
  };
}

/** The actions of a keep-alive rule on a socket. */
export interface KeepAliveActions {
  ping(): void;
  send(text: string): void;
  /** Called when the socket gave no sign of life for as long as the rule allows. */
  onDead(reason: string): void;
}

/** The text of a message to send. A string `{unixSeconds}` is replaced by the current time as a number. */
export function messageText(message: unknown): string {
  const unixSeconds = String(Math.floor(Date.now() / 1000));
  return JSON.stringify(message).replaceAll('"{unixSeconds}"', unixSeconds);
}

/** No venue's id or time is longer; a frame may be anything, and a deep value would exhaust the stack. */
const longestEcho = 256;

/** The text of an answer to a frame. A string `{frame:$.path}` is replaced by the plain value there, or null. */
function answerText(message: unknown, frame: unknown): string {
  return messageText(
    mapTexts(message, (text) => {
      const path = /^\{frame:(.+)\}$/.exec(text)?.[1];
      return path === undefined ? text : plainEcho(parseJsonPath(path)(frame));
    }),
  );
}

function plainEcho(value: unknown): unknown {
  const isPlain = ["number", "boolean"].includes(typeof value);
  return isPlain || (typeof value === "string" && value.length <= longestEcho) ? value : null;
}

/** Timers of one socket, which end with it. */
export interface SocketTimers {
  after(ms: number, run: () => void): NodeJS.Timeout;
  /** Like `after`, for what judges the venue by what has arrived until then. */
  judgeAfter(ms: number, judge: () => void): void;
  cancel(timer: NodeJS.Timeout | undefined): void;
  stop(): void;
}

export function makeSocketTimers(): SocketTimers {
  const timers = new Set<NodeJS.Timeout>();

  function after(ms: number, run: () => void) {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
    return timer;
  }

  return {
    after,
    judgeAfter(ms, judge) {
      // After a standstill of this process, timers run before the data that arrived meanwhile is read.
      after(ms, () => setImmediate(judge));
    },
    cancel(timer) {
      if (timer === undefined) return;
      clearTimeout(timer);
      timers.delete(timer);
    },
    stop() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
