import type { Log } from "../server/log.js";
import type { KeepAlive } from "../server/registry.js";
import { compileMatch } from "./checks.js";
import type { Feed } from "./feed.js";
import { messageText, startKeepAlive } from "./keepalive.js";
import { refusedFeed } from "./refusal.js";
import type { Resolver } from "./resolver.js";
import { openSocket, type Down, type Socket } from "./socket.js";

export interface SessionOptions {
  url: string;
  keepAlive: KeepAlive;
  feeds: readonly Feed[];
  userAgent: string;
  resolver: Resolver;
  log: Log;
  onOpen(session: Session): void;
  onSubscribed(session: Session, feed: Feed): void;
  onData(session: Session, feed: Feed, frame: unknown): void;
  onRefused(session: Session, feed: Feed): void;
  onDown(session: Session, down: Down): void;
}

/** One socket from its opening to its end: subscribed, kept alive, its frames told apart. */
export interface Session {
  opened(): Socket["opened"];
  asked: ReadonlySet<Feed>;
  /** Streams that have sent data. */
  heard: ReadonlySet<Feed>;
  /** Streams whose subscription was refused, and that have sent nothing since. */
  refused: ReadonlySet<Feed>;
  close(): void;
}

/** Venues take five messages a second or more; Binance counts pings too. */
const betweenMessagesMs = 250;

export function startSession(options: SessionOptions): Session {
  const { url, feeds, userAgent, resolver } = options;
  const { send, respond } = options.keepAlive;
  const mustAnswer = respond ? compileMatch(respond.when) : () => false;
  const channels = new Map<string, unknown>();
  const asked = new Set<Feed>();
  const heard = new Set<Feed>();
  const refused = new Set<Feed>();
  let keepAlive: ReturnType<typeof startKeepAlive> | undefined;
  let subscriber: NodeJS.Timeout | undefined;

  const socket = openSocket({
    url,
    userAgent,
    resolver,
    onOpen,
    onHeard: () => keepAlive?.heard(),
    onMessage,
    onDown(down) {
      stop();
      options.onDown(session, down);
    },
  });
  const session: Session = {
    opened: () => socket.opened,
    asked,
    heard,
    refused,
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
    const saidAlready = send.kind === "once";
    if (saidAlready) subscriber = setTimeout(subscribeNext, betweenMessagesMs);
    else subscribeNext();
  }

  function subscribeNext() {
    const feed = feeds[asked.size];
    if (!feed) return;
    socket.send(messageText(feed.stream.subscribe));
    asked.add(feed);
    options.onSubscribed(session, feed);
    subscriber = setTimeout(subscribeNext, betweenMessagesMs);
  }

  /** What a frame breaks in us costs its socket, never the program. */
  function onMessage(text: string) {
    try {
      onFrame(text);
    } catch (error) {
      options.log.error("a frame broke the probe; this is a bug of ours", {
        url,
        error,
      });
      socket.giveUp({ unmeasured: "broken" }, "a frame broke the probe");
    }
  }

  function onFrame(text: string) {
    const frame = parsed(text);
    if (frame === undefined) return;
    if (respond && mustAnswer(frame, channels))
      socket.send(messageText(respond.message));
    let isData = false;
    for (const feed of asked) {
      if (!feed.isData(frame, channels)) continue;
      isData = true;
      heard.add(feed);
      refused.delete(feed);
      options.onData(session, feed, frame);
    }
    if (!isData) onNotice(frame);
  }

  function onNotice(frame: unknown) {
    noteChannel(frame, channels, feeds.length);
    const silent = [...asked].filter((feed) => !heard.has(feed));
    const feed = refusedFeed(frame, silent);
    if (!feed) return;
    refused.add(feed);
    options.onRefused(session, feed);
  }

  function stop() {
    keepAlive?.stop();
    clearTimeout(subscriber);
  }
}

/** Bare words (`pong`) are no JSON; neither is what a venue sends by mistake. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Bitfinex tells a channel's number once, and by nothing else are its frames known. */
function noteChannel(
  frame: unknown,
  channels: Map<string, unknown>,
  atMost: number,
) {
  const { event, channel, chanId } = Object(frame) as Record<string, unknown>;
  if (event !== "subscribed" || typeof channel !== "string") return;
  if (channels.has(channel) || channels.size < atMost)
    channels.set(channel, chanId);
}
