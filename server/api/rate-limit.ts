import type { RequestHandler } from "express";
import { ipKeyGenerator, rateLimit } from "express-rate-limit";
import { clientAddress } from "./client-address.js";
import { sendProblem } from "./problem.js";

/** What one customer of a provider usually has; an address of it alone is one of endlessly many. */
const ipv6Subnet = 56;

/** So many requests a minute from an address, counted by this process alone; `RateLimit` headers say how many are left. */
export function limiter(perMinute: number): RequestHandler {
  return rateLimit({
    windowMs: 60_000,
    limit: perMinute,
    // the next draft adds a hash of the address, which a shared cache would hand to others, and which is soon guessed
    standardHeaders: "draft-7",
    legacyHeaders: false,
    keyGenerator: (request) =>
      ipKeyGenerator(clientAddress(request), ipv6Subnet),
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
