import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { retryAfterMs } from "../../shared/measurement/retry-after.js";
import { causeOf, causeOfRefusal, unlessOurNetwork, type Cause } from "../rest/cause.js";
import { makeBucket, type Allowance } from "./bucket.js";
import { openConnection, type Connection } from "../rest/connection.js";
import { isUnmeasured } from "../rest/measurement.js";
import type { Resolver } from "../network/resolver.js";

export interface SocketOptions {
  url: string;
  userAgent: string;
  resolver: Resolver;
  /** Trusted authorities, as PEM; default: those of Node. */
  ca?: string;
  onOpen: () => void;
  /** Called for frames of any kind, including pings and pongs; once for all that arrived in one chunk. */
  onHeard: (arrival: Arrival) => void;
  /** Called for a frame of text (valid UTF-8) or of bytes. The callee may keep the buffer. */
  onMessage: (frame: Buffer, arrival: Arrival) => void;
  /** Called once when the socket ends for any reason, but not after `close()`. */
  onDown: (down: Down) => void;
  flow?: Flow;
}

/** Arrival time of frames. All frames of one chunk share the same object, and other frames have another. */
export interface Arrival {
  /** `performance.now()` */
  readonly atMs: number;
  /** By the wall clock, milliseconds since 1970. */
  readonly unixMs: number;
}

/** Limits of what a peer may send. Beyond them the socket is ended, no matter what was sent. */
export type Flow = Record<"frames" | "bytes", Allowance>;

/** Why a socket did not open, or closed. */
export interface Down {
  cause: Cause;
  detail: string;
  /** The venue asked for this delay before the next attempt. */
  retryAfterMs: number;
}

export interface VenueSocket {
  /** Null until the socket is open. */
  opened: null | {
    atMs: number;
    latencyUs: number;
    connection: Connection;
  };
  send: (text: string) => void;
  ping: () => void;
  /** Whether it has ended; `onDown` follows when the cause is known. */
  isEnded: () => boolean;
  /** Ends a dead connection; `onDown` follows. */
  giveUp(cause: Cause, detail: string): void;
  /** Ends it at our own request: no callback is called any more. */
  close(): void;
}

/** Timeout from the start of the connection to the upgrade's answer. */
const openWithinMs = 10_000;

/** Timeout of a closing handshake, started by either side. */
const goodbyeMs = 1000;

/**
 * The busiest socket of the registry usually receives some fifty frames a second. At peak times it may be a hundred
 * times as many, which is no fault. Frames up to this limit cost a core a fifteenth of its time. Bytes are limited more
 * tightly: they may arrive as fragments of two bytes, whose cost is far out of proportion to their size.
 */
const usualFlow: Flow = {
  frames: { burst: 100_000, perSecond: 20_000 },
  bytes: { burst: 16 * 1024 * 1024, perSecond: 4 * 1024 * 1024 },
};

/** Order books of a thousand levels are below 1 MiB; a frame above the limit ends the socket. */
const maxFrameBytes = 4 * 1024 * 1024;

/** Bounds the send buffer for a venue that makes us write but does not read. */
const maxUnsentBytes = 1024 * 1024;

/** More fragments are an attack: the longest frame in fragments of one TCP segment has 3,000. */
const patience = { maxFragments: 4096, closeTimeout: goodbyeMs };

/** The close code of a connection that ended without a close frame. */
const unsaid = 1006;

/** How a socket ended. */
interface Ending {
  /** Whether the peer closed it explicitly, or is clearly at fault. */
  isSaid?: boolean;
  error?: Error;
  waitMs?: number;
}

/** Opens one WebSocket. Never throws. */
export function openSocket(options: SocketOptions): VenueSocket {
  const { url, userAgent, resolver, ca, onOpen, onMessage, onDown } = options;
  const begunMs = performance.now();
  const { protocol, hostname, port } = new URL(url);
  const { frames, bytes } = options.flow ?? usualFlow;
  const framesLeft = makeBucket(frames);
  const bytesLeft = makeBucket(bytes);
  // Read once per chunk: its frames arrived together, and reading clocks costs more than handling small frames.
  let arrival: Arrival = { atMs: begunMs, unixMs: Date.now() };
  let heard = arrival;
  const closing = new AbortController();
  let pingMs: number | null = null;
  let broken: Error | null = null;
  let connection: Connection | null = null;
  let ended = false;

  resolver.asked(hostname);
  const ws = new WebSocket(url, {
    createConnection,
    headers: { "user-agent": userAgent },
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    ...patience,
  });
  const openTimer = setTimeout(onOpenDeadline, openWithinMs);
  ws.on("open", onWsOpen);
  ws.on("message", (frame: Buffer) => {
    onHeard();
    if (ended) return;
    // KuCoin also sends JSON in binary frames.
    onMessage(frame, arrival);
  });
  ws.on("ping", () => {
    onHeard();
    boundUnsent();
  });
  ws.on("pong", () => {
    if (pingMs !== null) resolver.answered(hostname, pingMs);
    pingMs = null;
    onHeard();
  });
  ws.on("unexpected-response", onRefusal);
  ws.on("error", (error) => {
    end(causeOfSocketError(error), error.message, { error });
    // After a violation of the protocol there is no closing handshake.
    ws.terminate();
  });
  ws.on("close", (code, reason) => {
    if (broken) return end(causeOfSocketError(broken), broken.message, { error: broken });
    end({ fault: "closed" }, `closed by the peer, ${code} ${reason.toString()}`, { isSaid: code !== unsaid });
  });

  const socket: VenueSocket = {
    opened: null,
    send(text) {
      if (ws.readyState !== WebSocket.OPEN) return;
      ws.send(text);
      boundUnsent();
    },
    ping() {
      if (ws.readyState !== WebSocket.OPEN) return;
      pingMs = performance.now();
      ws.ping();
    },
    isEnded: () => ended,
    giveUp: (cause, detail) => end(cause, detail),
    close,
  };
  return socket;

  function createConnection() {
    const secure = protocol === "wss:";
    connection = openConnection({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port) || (secure ? 443 : 80),
      secure,
      lookup: resolver.lookup,
      ...(ca !== undefined && { ca }),
    });
    return connection.socket;
  }

  function onWsOpen() {
    clearTimeout(openTimer);
    if (!connection || ended) return;
    const atMs = performance.now();
    const latencyUs = Math.round((atMs - begunMs) * 1000);
    resolver.answered(hostname, begunMs);
    heard = { atMs, unixMs: Date.now() };
    socket.opened = { atMs, latencyUs, connection };
    // An open WebSocket does not emit errors of its TCP socket.
    connection.socket.on("error", (error) => (broken = error));
    // Prepended, so that it runs before the frames in the chunk are parsed.
    connection.socket.prependListener("data", onChunk);
    onOpen();
  }

  /** Limits bytes per chunk, because fragments emit no events. */
  function onChunk({ length }: Buffer) {
    arrival = { atMs: performance.now(), unixMs: Date.now() };
    if (!bytesLeft.take(length, arrival.atMs)) flooded("bytes");
  }

  function onHeard() {
    if (ended) return;
    if (!framesLeft.take(1, arrival.atMs)) return flooded("frames");
    if (arrival === heard) return;
    heard = arrival;
    options.onHeard(arrival);
  }

  function flooded(what: keyof Flow) {
    const { burst, perSecond } = { frames, bytes }[what];
    end({ fault: "closed" }, `the peer sends too much: more than ${burst} ${what} at once, or ${perSecond} a second`, {
      isSaid: true,
    });
    ws.terminate();
  }

  function onOpenDeadline() {
    // After a standstill of this process, timers run before the data that arrived meanwhile is read.
    setImmediate(() => {
      if (socket.opened) return;
      const isUnresolved = connection?.phase === "dns";
      end({ fault: isUnresolved ? "dns" : "timeout" }, `not open within ${openWithinMs} ms`);
    });
  }

  function onRefusal(_request: unknown, response: IncomingMessage) {
    const httpStatus = response.statusCode ?? 0;
    const waitMs = retryAfterMs(response.headers["retry-after"], Date.now());
    end(
      causeOfRefusal(httpStatus) ?? { fault: "handshake", httpStatus },
      `the upgrade was answered with ${httpStatus}`,
      { isSaid: true, waitMs },
    );
  }

  function causeOfSocketError(error: Error): Cause {
    const cause = causeOf(error, connection?.phase ?? "connect");
    if (isUnmeasured(cause)) return cause;
    if (socket.opened) return { fault: "closed" };
    const isUpgradeAnswer = connection?.phase === "exchange" && !("code" in error);
    if (isUpgradeAnswer) return { fault: "handshake" };
    return cause.fault === "body" ? { fault: "handshake" } : cause;
  }

  function boundUnsent() {
    if (ws.bufferedAmount > maxUnsentBytes)
      end({ fault: "closed" }, "the peer does not read what we send", {
        isSaid: true,
      });
  }

  function end(cause: Cause, detail: string, ending: Ending = {}) {
    if (ended) return;
    shut();
    const { isSaid = false, waitMs = 0 } = ending;
    const down = { cause, detail, retryAfterMs: waitMs };
    if (isSaid) onDown(down);
    else void report(down, ending.error);
  }

  /** An ending that the peer did not cause explicitly may be probe trouble. */
  async function report(down: Down, error: unknown) {
    const cause = await cleared(down.cause, error);
    if (!closing.signal.aborted) onDown({ ...down, cause });
  }

  async function cleared(cause: Cause, error: unknown): Promise<Cause> {
    if ("fault" in cause && cause.fault === "dns")
      return (await resolver.othersResolve(hostname, begunMs)) ? cause : { unmeasured: "resolver" };
    const { signal } = closing;
    const unanswered = { host: hostname, sinceMs: heard.atMs, error, signal };
    return unlessOurNetwork(cause, unanswered, resolver);
  }

  function close() {
    closing.abort();
    shut();
  }

  function shut() {
    ended = true;
    clearTimeout(openTimer);
    if (ws.readyState === WebSocket.CONNECTING) return ws.terminate();
    ws.close();
    // The peer may be gone, or never complete the closing handshake.
    setTimeout(() => ws.terminate(), goodbyeMs).unref();
  }
}
