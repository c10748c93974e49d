import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { isIPv6, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Request, RequestHandler } from "express";
import { ipKeyGenerator, MemoryStore, type Options, rateLimit } from "express-rate-limit";
import type { SendProblem } from "./problem.js";
import { clientAddress } from "./request.js";

/** The number of requests a minute that an address may make, and the counts so far. Counted in this process only. */
export interface RateLimit {
  perMinute: number;
  store: MemoryStore;
  /** Of IPv6 sites, which have 256 allocations of one customer. */
  sites: MemoryStore;
}

const ipv6Site = 48;
/** A site may make this many times the requests of one customer. */
const customersOfSite = 16;

/** The usual allocation of one customer, who has endlessly many single addresses. */
export const ipv6Subnet = 56;

/** @returns null if there is no limit */
export function makeLimit(perMinute: number): RateLimit | null {
  return perMinute > 0 ? { perMinute, store: new MemoryStore(), sites: minuteStore() } : null;
}

/** A store that no limiter of the library initialises. */
function minuteStore(): MemoryStore {
  const store = new MemoryStore();
  store.init({ windowMs: 60_000 } as Options);
  return store;
}

/** Counts a request or refuses it; `RateLimit` headers report the remaining number. */
export function requestLimiter(limit: RateLimit, sendProblem: SendProblem): RequestHandler {
  const { perMinute, store } = limit;
  const ofAddress = rateLimit({
    windowMs: 60_000,
    limit: perMinute,
    store,
    // the next draft adds a hash of the address, which a shared cache would pass to others and which is easily guessed
    standardHeaders: "draft-7",
    legacyHeaders: false,
    keyGenerator: keyOf,
    // its validation depends on what clients send, and does not print through our log
    validate: false,
    handler: (_request, response) => {
      sendProblem(
        response,
        429,
        `More than ${perMinute} requests in a minute from your address. Wait for the time in Retry-After.`,
      );
    },
  });
  return (request, response, next) => {
    isOverOfSite(limit, addressOf(request)).then((waitS) => {
      if (waitS === null) return ofAddress(request, response, next);
      response.setHeader("Retry-After", String(waitS));
      const most = customersOfSite * perMinute;
      sendProblem(response, 429, `More than ${most} requests in a minute from your /${ipv6Site} of IPv6.`);
    }, next);
  };
}

/** Counts a request of an IPv6 site. Resolves to the seconds to wait if it is one too many, otherwise null. */
export async function isOverOfSite({ perMinute, sites }: RateLimit, address: string): Promise<number | null> {
  if (!isIPv6(address)) return null;
  const { totalHits, resetTime } = await sites.increment(ipKeyGenerator(address, ipv6Site));
  return totalHits > customersOfSite * perMinute ? secondsUntil(resetTime) : null;
}

function secondsUntil(time: Date | undefined): number {
  return Math.max(1, Math.ceil((+(time ?? 0) - Date.now()) / 1000));
}

/**
 * Counts `more` further requests, for a request that asks for several things.
 *
 * @returns null, or the seconds to wait if that exceeds the limit
 */
export async function countMore(
  { perMinute, store }: Pick<RateLimit, "perMinute" | "store">,
  request: Request,
  more: number,
): Promise<number | null> {
  const key = keyOf(request);
  for (let counted = 0; counted < more; counted++) {
    const { totalHits, resetTime } = await store.increment(key);
    if (totalHits > perMinute) return secondsUntil(resetTime);
  }
  return null;
}

const unitBytes = 64 * 1024;
/** Units of an address in a minute: 64 MiB, with which a whole office can load its pages again. */
const unitsPerMinute = 1024;

/**
 * Limits responses that need no database, and do not count as requests, by their bytes.
 *
 * @param limit null: no limit
 */
export function byteLimiter(limit: RateLimit | null, sendProblem: SendProblem): RequestHandler {
  if (limit === null) return (_request, _response, next) => next();
  const ofBytes: Pick<RateLimit, "perMinute" | "store"> = { perMinute: unitsPerMinute, store: minuteStore() };
  return (request, response, next) => {
    countMore(ofBytes, request, 1).then((waitS) => {
      if (waitS !== null) {
        response.setHeader("Retry-After", String(waitS));
        return sendProblem(
          response,
          429,
          "More than 64 MiB in a minute to your address. Wait for the time in Retry-After.",
        );
      }
      response.once("finish", () => {
        const bytes = request.method === "GET" ? Number(response.getHeader("content-length") ?? 0) : 0;
        void countMore(ofBytes, request, Math.floor(bytes / unitBytes));
      });
      next();
    }, next);
  };
}

function keyOf(request: Request): string {
  return ipKeyGenerator(addressOf(request), ipv6Subnet);
}

function addressOf(request: Request): string {
  return clientAddress(request, () => request.ip);
}

// Limits how many connections one client, and all clients together, may hold, and for how long.

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
    if (socket.writableEnded || unfinishedOn(socket)) resetConnection(socket);
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
      else if (nowMs - of.sentAtMs >= readWithinMs) resetConnection(socket);
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
export function resetConnection(socket: Duplex): void {
  if (socket instanceof Socket) socket.resetAndDestroy();
  else socket.destroy();
}

function isEndless(response: ServerResponse): boolean {
  return String(response.getHeader("content-type") ?? "").startsWith("text/event-stream");
}
