/** Limits how many connections one client, and all clients together, may hold, and for how long. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Socket } from "node:net";
import { ipKeyGenerator } from "express-rate-limit";
import { ipv6Subnet } from "./rate-limit.js";

export interface ConnectionLimits {
  /** Open connections of one address. Those of trusted proxies carry many clients and do not count. */
  perAddress: number;
  /** Of this process. */
  total: number;
  /** How long a client may take to read a response; event streams have no end. */
  readWithinMs: number;
  /** Idle limit of a connection: its client is gone, or does not read. */
  silentForMs: number;
}

/** Room for all event streams, and for as many addresses at the limit of streams. */
export const connectionLimits: ConnectionLimits = {
  ...{ perAddress: 256, total: 16_000 },
  ...{ readWithinMs: 60_000, silentForMs: 30_000 },
};

/** Beyond its limits a connection is closed at once. */
export function limitConnections(server: Server, limits: ConnectionLimits, isProxy: (address: string) => boolean) {
  const open = new Map<string, number>();
  server.maxConnections = limits.total;
  server.on("connection", (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isProxy(remoteAddress)) return;
    const key = ipKeyGenerator(remoteAddress, ipv6Subnet);
    const count = (open.get(key) ?? 0) + 1;
    if (count > limits.perAddress) return void socket.destroy();
    open.set(key, count);
    socket.once("close", () => {
      const left = open.get(key)! - 1;
      if (left > 0) open.set(key, left);
      else open.delete(key);
    });
  });
}

/**
 * Tracks the newest response on each connection, and closes connections whose client does not read: one that takes ten
 * bytes at a time would keep a body in memory for hours. A short response goes to the kernel at once, so sending it
 * does not show that the client reads, and the kernel keeps it for minutes after the connection is closed. So we first
 * end the connection, which a client that reads sees and answers; after another silence we reset it, and it counts
 * until then.
 */
export function watchResponses(server: Server, { readWithinMs, silentForMs }: ConnectionLimits) {
  const newest = new Map<Duplex, { response: ServerResponse; sentAtMs: number | null }>();
  // one timer for all, because one for each response would cost as much as the response
  const timer = setInterval(endSlow, readWithinMs / 6).unref();
  server.once("close", () => clearInterval(timer));
  server.setTimeout(silentForMs, (socket) => {
    if (socket.writableEnded || unfinishedOn(socket)) reset(socket);
    else socket.end().setTimeout(silentForMs);
  });
  // after a response with `Connection: close`, Node would close its connection, not only end it
  server.on("connection", (socket: Socket) => (socket.destroySoon = () => void socket.end()));

  function endSlow(): void {
    const nowMs = performance.now();
    for (const [socket, of] of newest) {
      const { response } = of;
      if (!response.headersSent || response.writableFinished || isEndless(response)) of.sentAtMs = null;
      else if (of.sentAtMs === null) of.sentAtMs = nowMs;
      else if (nowMs - of.sentAtMs >= readWithinMs) reset(socket);
    }
  }

  /** The last response on this connection, if it is unfinished. */
  function unfinishedOn(socket: Duplex): ServerResponse | null {
    const { response } = newest.get(socket) ?? {};
    return response && !response.writableFinished ? response : null;
  }

  return {
    began({ socket }: IncomingMessage, response: ServerResponse): void {
      const known = newest.get(socket);
      newest.set(socket, { response, sentAtMs: null });
      if (known === undefined) socket.once("close", () => newest.delete(socket));
    },
    unfinishedOn,
  };
}

/** Closes a connection together with what its client has not read. */
export function reset(socket: Duplex): void {
  if (socket instanceof Socket) socket.resetAndDestroy();
  else socket.destroy();
}

function isEndless(response: ServerResponse): boolean {
  return String(response.getHeader("content-type") ?? "").startsWith("text/event-stream");
}
