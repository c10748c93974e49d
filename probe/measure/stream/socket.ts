import type { IncomingMessage } from "node:http";
import { gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { WebSocket } from "ws";
import { mebibyte } from "../../../shared/config/byte-units.js";
import { limitArrival, maxHandshakeBytes, socketLimits } from "../../../shared/http/limits.js";
import { retryAfterMs } from "../../../shared/http/retry-after.js";
import type { Fault } from "../../../shared/measurement/sample.js";
import type { FrameCompression } from "../../../shared/registry/registry.js";
import { withoutHidden } from "../../../shared/text/secrets.js";
import type { Resolver } from "../../network/resolver.js";
import { type Cause, causeOf, causeOfRefusal, unlessOurNetwork } from "../causes.js";
import { type Connection, openConnection, type Phase } from "../connection.js";
import { isUnmeasured } from "../measurement.js";
import { type Arrival, type Flow, makeInflow } from "./inflow.js";

export interface SocketOptions {
  url: string;
  /** Sent in addition to the headers of every request. */
  headers?: Record<string, string> | undefined;
  userAgent: string;
  resolver: Resolver;
  /** Trusted authorities, as PEM; default: those of Node. */
  ca?: string;
  onOpen: () => void;
  /** Called for frames of any kind, including pings and pongs; once for all that arrived in one chunk. */
  onHeard: (arrival: Arrival) => void;
  /** Of each binary frame; frames of text are never compressed like this. */
  compression?: FrameCompression | undefined;
  /** Called for a frame of text (valid UTF-8) or of bytes, decompressed. The callee may keep the buffer. */
  onMessage: (frame: Buffer, arrival: Arrival) => void;
  /** Called once when the socket ends for any reason, but not after `close()`. */
  onDown: (down: Down) => void;
  flow?: Flow;
}

export interface VenueSocket extends Pick<SocketEnding, "giveUp" | "blame" | "close"> {
  /** Null until the socket is open. */
  opened: null | { atMs: number; latencyUs: number; connection: Connection };
  send: (text: string) => void;
  ping: () => void;
  /** Whether it has ended; `onDown` follows when the cause is known. */
  isEnded: () => boolean;
}

/** Order books of a thousand levels are below 1 MiB; a frame above the limit ends the socket. */
const maxFrameBytes = 4 * mebibyte;

/** Bounds the send buffer for a venue that makes us write but does not read. */
const maxUnsentBytes = mebibyte;

/** Opens one WebSocket. Never throws. */
export function openSocket(options: SocketOptions): VenueSocket {
  const { url, resolver, compression, onOpen, onMessage } = options;
  const startMs = performance.now();
  const { hostname } = new URL(url);
  let pingMs: number | null = null;
  let connection: Connection | null = null;
  let stopCounting = () => {};

  resolver.asked(hostname);
  const ws = new WebSocket(url, {
    createConnection() {
      connection = connectSocket(options);
      stopCounting = limitArrival(connection.socket, { maxBytes: maxHandshakeBytes }, onFloodBeforeOpening);
      return connection.socket;
    },
    headers: { ...options.headers, "user-agent": options.userAgent },
    maxPayload: maxFrameBytes,
    ...{ ...socketLimits, closeTimeout: goodbyeMs },
  });
  const { flow, onHeard } = options;
  const { opened, onChunk, onDecompressed, onFrame, heardMs } = makeInflow({ flow, startMs, onHeard, onFlood });
  const ending = watchEnding(ws, {
    ...{ hostname, resolver, startMs, heardMs },
    phase: () => connection?.phase ?? "connect",
    onDown: options.onDown,
  });
  ws.on("open", onWsOpen);
  ws.on("message", (sent: Buffer, isBinary: boolean) => {
    if (ending.isEnded) return;
    const frame = compression !== undefined && isBinary ? plainFrame(sent, compression) : sent;
    if (frame === null) return onFlood(`a frame has more than ${maxFrameBytes} bytes when it is decompressed`);
    // what fails at its end has cost as much as what does not
    if (compression !== undefined && isBinary) onDecompressed(frame === sent ? maxFrameBytes : frame.length);
    const arrival = onFrame(frame);
    // KuCoin also sends JSON in binary frames.
    if (!ending.isEnded) onMessage(frame, arrival);
  });
  ws.on("ping", () => {
    if (ending.isEnded) return;
    onFrame();
    boundUnsent();
  });
  ws.on("pong", () => {
    if (pingMs !== null) resolver.answered(hostname, pingMs);
    pingMs = null;
    if (!ending.isEnded) onFrame();
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
    isEnded: () => ending.isEnded,
    giveUp: ending.giveUp,
    blame: ending.blame,
    close: ending.close,
  };
  return socket;

  function onWsOpen() {
    stopCounting();
    if (!connection || ending.isEnded) return;
    const atMs = performance.now();
    const latencyUs = Math.round((atMs - startMs) * 1000);
    resolver.answered(hostname, startMs);
    opened(atMs);
    ending.opened(connection);
    socket.opened = { atMs, latencyUs, connection };
    // Prepended, so that it runs before the frames in the chunk are parsed.
    connection.socket.prependListener("data", onChunk);
    onOpen();
  }

  function onFloodBeforeOpening() {
    ending.blame("handshake", `more than ${maxHandshakeBytes} bytes before the answer to the upgrade`);
  }

  function onFlood(detail: string) {
    ending.blame("closed", detail);
    ws.terminate();
  }

  function boundUnsent() {
    if (ws.bufferedAmount > maxUnsentBytes) ending.blame("closed", "the peer does not read what we send");
  }
}

const decompressors = { gzip: gunzipSync, deflate: inflateSync, "deflate-raw": inflateRawSync };

/**
 * The decompressed frame; null if it exceeds the limit. A frame that cannot be decompressed stays as it is, and says as
 * little as any other that is not JSON.
 */
function plainFrame(frame: Buffer, compression: FrameCompression): Buffer | null {
  try {
    return decompressors[compression](frame, { maxOutputLength: maxFrameBytes });
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === undefined) throw error;
    return code === "ERR_BUFFER_TOO_LARGE" ? null : frame;
  }
}

function connectSocket({ url, resolver, ca }: SocketOptions): Connection {
  const { protocol, hostname, port } = new URL(url);
  const secure = protocol === "wss:";
  return openConnection({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (secure ? 443 : 80),
    secure,
    lookup: resolver.lookup,
    ...(ca !== undefined && { ca }),
  });
}

/** Why a socket did not open, or closed. */
export interface Down {
  cause: Cause;
  detail: string;
  /** The venue asked for this delay before the next attempt; 0 if it named none. */
  retryAfterMs: number;
}

export interface SocketEndingOptions {
  hostname: string;
  resolver: Resolver;
  /** Start of the connection, by `performance.now()`. */
  startMs: number;
  /** How far the connection has come. */
  phase: () => Phase;
  /** When the newest frame arrived; without one, when the socket opened; until then `startMs`. */
  heardMs: () => number;
  /** Called once when the socket ends for any reason, but not after `close()`. */
  onDown: (down: Down) => void;
}

/** The end of one socket, which has one cause and is reported once. */
interface SocketEnding {
  /** Whether it has ended; `onDown` follows when the cause is known. */
  readonly isEnded: boolean;
  opened: (connection: Connection) => void;
  /** Ends a dead connection; `onDown` follows. */
  giveUp: (cause: Cause, detail: string) => void;
  /** Ends a connection whose peer is clearly at fault; `onDown` is called at once. */
  blame: (fault: Fault, detail: string) => void;
  /** Ends it at our own request: no callback is called after that. */
  close: () => void;
}

/** Timeout from the start of the connection to the upgrade's answer. */
const openWithinMs = 10_000;

/** Timeout of a closing handshake, started by either side. */
const goodbyeMs = 1000;

/** The close code of a connection that ended without a close frame. */
const unsaidCloseCode = 1006;

/** The known circumstances of an ending, besides its cause. */
interface Circumstances {
  /** Whether the peer closed it explicitly, or is clearly at fault. */
  isSaid?: boolean;
  error?: Error;
  waitMs?: number;
}

function watchEnding(ws: WebSocket, options: SocketEndingOptions): SocketEnding {
  const { hostname, resolver, startMs, phase, heardMs, onDown } = options;
  const closing = new AbortController();
  let isOpen = false;
  let broken: Error | null = null;
  const openTimer = setTimeout(onOpenDeadline, openWithinMs);
  ws.on("unexpected-response", onRefusal);
  ws.on("error", (error) => {
    fail(error);
    // After a violation of the protocol there is no closing handshake.
    ws.terminate();
  });
  ws.on("close", (code, reason) => {
    if (broken) return fail(broken);
    end({ fault: "closed" }, `closed by the peer, ${code} ${reason.toString()}`, { isSaid: code !== unsaidCloseCode });
  });

  const ending = {
    isEnded: false,
    opened({ socket }: Connection) {
      isOpen = true;
      clearTimeout(openTimer);
      // An open WebSocket does not emit errors of its TCP socket.
      socket.on("error", (error) => (broken = error));
    },
    giveUp: (cause: Cause, detail: string) => end(cause, detail),
    blame: (fault: Fault, detail: string) => end({ fault }, detail, { isSaid: true }),
    close() {
      closing.abort();
      shut();
    },
  };
  return ending;

  function onOpenDeadline() {
    // After a standstill of this process, timers run before the data that arrived meanwhile is read.
    setImmediate(() => {
      if (isOpen) return;
      end({ fault: phase() === "dns" ? "dns" : "timeout" }, `not open within ${openWithinMs} ms`);
    });
  }

  function onRefusal(_request: unknown, response: IncomingMessage) {
    const httpStatus = response.statusCode ?? 0;
    const waitMs = retryAfterMs(response.headers["retry-after"], Date.now());
    const cause = causeOfRefusal(httpStatus) ?? { fault: "handshake", httpStatus };
    end(cause, `the upgrade was answered with ${httpStatus}`, { isSaid: true, waitMs });
  }

  function fail(error: Error) {
    end(causeOfError(error), error.message, { error });
  }

  function causeOfError(error: Error): Cause {
    const cause = causeOf(error, phase());
    if (isUnmeasured(cause)) return cause;
    if (isOpen) return { fault: "closed" };
    const isUpgradeAnswer = phase() === "exchange" && !("code" in error);
    if (isUpgradeAnswer) return { fault: "handshake" };
    return cause.fault === "body" ? { fault: "handshake" } : cause;
  }

  function end(cause: Cause, detail: string, { isSaid = false, waitMs = 0, error }: Circumstances = {}) {
    if (ending.isEnded) return;
    shut();
    const down = { cause, detail: withoutHidden(detail), retryAfterMs: waitMs };
    if (isSaid) onDown(down);
    else void report(down, error);
  }

  /** An ending that the peer did not cause explicitly may be probe trouble. */
  async function report(down: Down, error: unknown) {
    const cause = await cleared(down.cause, error);
    if (!closing.signal.aborted) onDown({ ...down, cause });
  }

  async function cleared(cause: Cause, error: unknown): Promise<Cause> {
    if ("fault" in cause && cause.fault === "dns")
      return (await resolver.othersResolve(hostname, startMs)) ? cause : { unmeasured: "resolver" };
    const unanswered = { host: hostname, sinceMs: heardMs(), error, signal: closing.signal };
    return unlessOurNetwork(cause, unanswered, resolver);
  }

  function shut() {
    ending.isEnded = true;
    clearTimeout(openTimer);
    if (ws.readyState === WebSocket.CONNECTING) return ws.terminate();
    ws.close();
    // The peer may be gone, or never complete the closing handshake.
    setTimeout(() => ws.terminate(), goodbyeMs).unref();
  }
}
