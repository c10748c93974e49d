import { isIPv6 } from "node:net";
import type { Request, RequestHandler } from "express";
import { ipKeyGenerator, MemoryStore, type Options, rateLimit } from "express-rate-limit";
import { clientAddress } from "./client-address.js";
import type { SendProblem } from "./problem.js";

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
export function limiter(limit: RateLimit, sendProblem: SendProblem): RequestHandler {
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
