import type { RequestHandler } from "express";
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
    keyGenerator: (request) =>
      ipKeyGenerator(
        clientAddress(request, () => request.ip),
        ipv6Subnet,
      ),
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
