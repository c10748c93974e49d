import type { Request, RequestHandler } from "express";
import { ipKeyGenerator, MemoryStore, rateLimit } from "express-rate-limit";
import { clientAddress } from "./client-address.js";
import type { SendProblem } from "./problem.js";

/** The number of requests a minute that an address may make, and the counts so far. Counted in this process only. */
export interface RateLimit {
  perMinute: number;
  store: MemoryStore;
}

/** The usual allocation of one customer, who has endlessly many single addresses. */
export const ipv6Subnet = 56;

/** @returns null if there is no limit */
export function makeLimit(perMinute: number): RateLimit | null {
  return perMinute > 0 ? { perMinute, store: new MemoryStore() } : null;
}

/** Counts a request or refuses it; `RateLimit` headers report the remaining number. */
export function limiter({ perMinute, store }: RateLimit, sendProblem: SendProblem): RequestHandler {
  return rateLimit({
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
}

/**
 * Counts that many more for a request which asks for several things.
 *
 * @returns null, or the seconds to wait: they are more than allowed
 */
export async function countMore(
  { perMinute, store }: RateLimit,
  request: Request,
  more: number,
): Promise<number | null> {
  const key = keyOf(request);
  for (let counted = 0; counted < more; counted++) {
    const { totalHits, resetTime } = await store.increment(key);
    if (totalHits > perMinute) return Math.max(1, Math.ceil((+resetTime! - Date.now()) / 1000));
  }
  return null;
}

function keyOf(request: Request): string {
  return ipKeyGenerator(
    clientAddress(request, () => request.ip),
    ipv6Subnet,
  );
}
