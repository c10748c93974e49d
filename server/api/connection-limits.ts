/** Bounds what the connections of one client, and of all together, may hold. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Socket } from "node:net";
import { ipKeyGenerator } from "express-rate-limit";
import { ipv6Subnet } from "./rate-limit.js";

export interface ConnectionLimits {
  /** Open connections of one address. Those of trusted proxies are of many clients, and not counted. */
  perAddress: number;
  /** Of this process. */
  total: number;
  /** How long a client may take to read a response; event streams have no end. */
  readWithinMs: number;
}

/** Room for all event streams, and for as many addresses at the limit of streams. */
export const connectionLimits: ConnectionLimits = { perAddress: 256, total: 16_000, readWithinMs: 60_000 };

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
 * The newest response on each connection, and the end of those that are not read: a client that takes ten bytes at a
 * time would keep a body in memory for hours.
 */
export function watchResponses(server: Server, { readWithinMs }: ConnectionLimits) {
  const newest = new Map<Duplex, { response: ServerResponse; sentAtMs: number | null }>();
  // one timer for all, because one for each response would cost as much as the response
  const timer = setInterval(endSlow, readWithinMs / 6).unref();
  server.once("close", () => clearInterval(timer));

  function endSlow(): void {
    const nowMs = performance.now();
    for (const [socket, of] of newest) {
      const { response } = of;
      if (!response.headersSent || response.writableFinished || isEndless(response)) of.sentAtMs = null;
      else if (of.sentAtMs === null) of.sentAtMs = nowMs;
      else if (nowMs - of.sentAtMs >= readWithinMs) socket.destroy();
    }
  }

  return {
    began({ socket }: IncomingMessage, response: ServerResponse): void {
      const known = newest.get(socket);
      newest.set(socket, { response, sentAtMs: null });
      if (known === undefined) socket.once("close", () => newest.delete(socket));
    },
    /** The last response on this connection, if it is unfinished. */
    unfinishedOn(socket: Duplex): ServerResponse | null {
      const { response } = newest.get(socket) ?? {};
      return response && !response.writableFinished ? response : null;
    },
  };
}

function isEndless(response: ServerResponse): boolean {
  return String(response.getHeader("content-type") ?? "").startsWith("text/event-stream");
}
