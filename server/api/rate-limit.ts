import type { RequestHandler } from "express";
import { ipKeyGenerator, MemoryStore, rateLimit } from "express-rate-limit";
import { clientAddress } from "./client-address.js";
import { sendProblem } from "./problem.js";

/** How many requests a minute an address may make, and how many each has made. This process alone counts. */
export interface RateLimit {
  perMinute: number;
  store: MemoryStore;
}

/** What one customer of a provider usually has; an address of it alone is one of endlessly many. */
export const ipv6Subnet = 56;

/** @returns null where there is no limit */
export function makeLimit(perMinute: number): RateLimit | null {
  return perMinute > 0 ? { perMinute, store: new MemoryStore() } : null;
}

/** Counts a request, or refuses it; `RateLimit` headers say how many are left. */
export function limiter({ perMinute, store }: RateLimit): RequestHandler {
  return rateLimit({
    windowMs: 60_000,
    limit: perMinute,
    store,
    // the next draft adds a hash of the address, which a shared cache would hand to others, and which is soon guessed
    standardHeaders: "draft-7",
    legacyHeaders: false,
    keyGenerator: (request) =>
      ipKeyGenerator(
        clientAddress(request, () => request.ip),
        ipv6Subnet,
      ),
    // its checks of our settings look at what clients send, and print past the log
    validate: false,
    handler: (_request, response) => {
      sendProblem(
        response,
        429,
        `More than ${perMinute} requests within a minute came from your address. Wait as long as Retry-After says.`,
      );
    },
  });
}
