/** Classifies a delivery attempt by how its HTTP exchange ended and which step it was waiting for. */

import { ownTrouble } from "../../../shared/measurement/local-errno.js";
import { retryAfterMs } from "../../../shared/measurement/retry-after.js";
import { maxInterim } from "../../../shared/untrusted/limits.js";
import { Unresolved, Unsafe } from "../../http/checked-lookup.js";
import { networkCodesOf, wordsForCodes } from "../../http/error-words.js";
import type { AwaitedStep, BoundedRequest, EndedExchange } from "../../http/exchange.js";
import { hostOf } from "../channels/safe-url.js";
import type { Ending } from "./attempt-outcome.js";

/** The alert may be sent again at once. */
const certainlyOurs = { result: "ours", retryAfterMs: 0 } as const;

/** A deadline that fires this late shows that the machine stalled. */
const stalledMs = 1000;

/** @throws the error if it is a bug of ours */
export function endingOf(exchange: EndedExchange, { url, deadlineMs, maxWireBytes }: BoundedRequest): Ending {
  const { end, status } = exchange;
  const host = hostOf(url);
  switch (end.kind) {
    case "answered":
      return endingByStatus(exchange, host);
    case "oversize":
      return status === null
        ? unreachable(
            `expected an answer of ${host}, got more than ${maxWireBytes / 1024} KiB or ${maxInterim} interim answers without one`,
          )
        : endingByStatus(exchange, host);
    case "upgraded":
      return unreachable(`expected an answer of ${host}, got a change of protocol`);
    case "unsent":
      return {
        ...certainlyOurs,
        // without this pause, a connection that is merely slow would be claimed and given up again and again
        retryAfterMs: 1_000,
        error: `expected a connection ${Math.ceil(end.lateMs)} ms earlier: another dispatcher may have sent this and later alerts since`,
      };
    case "closed":
      return { ...certainlyOurs, error: "expected to wait for the answer, but this program is stopping" };
    case "late":
      return endingByTime(exchange.awaited, host, deadlineMs, end.lateMs);
    case "failed":
      return endingByFault(exchange, host, end.error);
  }
}

function unreachable(error: string): Ending {
  return { result: "unreachable", error };
}

function endingByStatus({ status, headers }: EndedExchange, host: string): Ending {
  const hundreds = Math.floor((status ?? 0) / 100);
  if (hundreds === 2) return { result: "delivered" };
  return {
    result: "refused",
    error: `expected a status of 2xx from ${host}, got ${status}${hundreds === 3 ? "; redirects are not followed" : ""}`,
    // an implausible wait is capped, too, not ignored: sending sooner could use up the attempts, and ten minutes do
    // little harm
    retryAfterMs: retryAfterMs(headers["retry-after"], Date.now(), { credibleMs: Infinity }) || null,
  };
}

/** @param lateMs how long after the deadline the exchange was ended */
function endingByTime(awaited: AwaitedStep, host: string, deadlineMs: number, lateMs: number): Ending {
  const expected = `expected ${awaited} of ${host} within ${deadlineMs / 1000} s`;
  if (lateMs > stalledMs)
    return {
      ...certainlyOurs,
      error: `${expected}, but this machine stalled for ${Math.round(lateMs / 1000)} s`,
    };
  if (awaited === "an address") return { result: "ours", error: `${expected}, the resolver gave none` };
  return { result: "timeout", error: `${expected}, got none` };
}

function endingByFault({ awaited, reused }: EndedExchange, host: string, error: Error): Ending {
  if (error instanceof Unsafe) return { result: "unsafe", error: error.message };
  if (error instanceof Unresolved)
    return {
      result: error.isOurs ? "ours" : "unreachable",
      error: error.message,
    };
  const codes = networkCodesOf(error);
  const message = `expected ${awaited} of ${host}, got ${wordsForCodes(codes)}`;
  // Servers close idle connections, which may happen just as we send. A retry on a new connection shows whether the
  // receiver is at fault.
  if (reused && awaited === "an answer" && codes.every(isBroken))
    return { ...certainlyOurs, error: `${message}; the connection was reused` };
  if (codes.every(isOurs)) return { result: "ours", error: message };
  if (codes.every((code) => code === "ETIMEDOUT")) return { result: "timeout", error: message };
  return unreachable(message);
}

/**
 * Errors that may mean that this machine has no route. Routers report some of them if they find no route to a host,
 * which is the case for every host once our own network is down. Others come from a firewall on this machine, or from a
 * machine without IPv6. A needless retry costs less than giving up an alert that was never sent.
 */
const noWayOut = new Set(["EHOSTUNREACH", "EACCES", "EPERM", "EAFNOSUPPORT"]);

function isOurs(code: string): boolean {
  return ownTrouble.has(code) || noWayOut.has(code);
}

function isBroken(code: string): boolean {
  return code === "ECONNRESET" || code === "EPIPE";
}
