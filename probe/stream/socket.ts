import { WebSocket } from "ws";
import { limitArrival, maxHandshakeBytes, socketLimits } from "../../shared/untrusted/limits.js";
import { openConnection, type Connection } from "../rest/connection.js";
import type { Resolver } from "../network/resolver.js";
import { makeInflow, type Arrival, type Flow } from "./inflow.js";
import { goodbyeMs, watchEnding, type Down, type SocketEnding } from "./socket-ending.js";

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
  /** Called for a frame of text (valid UTF-8) or of bytes. The callee may keep the buffer. */
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
const maxFrameBytes = 4 * 1024 * 1024;

/** Bounds the send buffer for a venue that makes us write but does not read. */
const maxUnsentBytes = 1024 * 1024;

/** Opens one WebSocket. Never throws. */
export function openSocket(options: SocketOptions): VenueSocket {
  const { url, resolver, onOpen, onMessage } = options;
  const startMs = performance.now();
  const { hostname } = new URL(url);
  let pingMs: number | null = null;
  let connection: Connection | null = null;
  let stopCounting = () => {};

  resolver.asked(hostname);
  const ws = new WebSocket(url, {
    createConnection() {
      connection = connect(options);
      stopCounting = limitArrival(connection.socket, { maxBytes: maxHandshakeBytes }, onFloodBeforeOpening);
      return connection.socket;
    },
    headers: { ...options.headers, "user-agent": options.userAgent },
    maxPayload: maxFrameBytes,
    ...{ ...socketLimits, closeTimeout: goodbyeMs },
  });
  const { flow, onHeard } = options;
  const { opened, onChunk, onFrame, heardMs } = makeInflow({ flow, startMs, onHeard, onFlood });
  const ending = watchEnding(ws, {
    ...{ hostname, resolver, startMs, heardMs },
    phase: () => connection?.phase ?? "connect",
    onDown: options.onDown,
  });
  ws.on("open", onWsOpen);
  ws.on("message", (frame: Buffer) => {
    if (ending.isEnded) return;
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

function connect({ url, resolver, ca }: SocketOptions): Connection {
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
