/** What became of a letter, judged by how its exchange ended and what it was waiting for. */

import { ownTrouble } from "../../../shared/measurement/local-errno.js";
import { retryAfterMs } from "../../../shared/measurement/retry-after.js";
import { Unresolved, Unsafe } from "../../http/checked-lookup.js";
import { networkCodesOf, wordsForCodes } from "../../http/error-words.js";
import type { AwaitedStep, BoundedRequest, EndedExchange } from "../../http/exchange.js";
import { hostOf } from "../channels/safe-url.js";
import type { Ending } from "./attempt-outcome.js";

/** It may be sent again at once. */
const certainlyOurs = { result: "ours", retryAfterMs: 0 } as const;

/** As much later than its time comes no deadline on a machine that runs. */
const stoodStillMs = 1000;

/** @throws what is a bug of ours */
export function endingOf(exchange: EndedExchange, { url, deadlineMs, maxWireBytes }: BoundedRequest): Ending {
  const { end, status } = exchange;
  const host = hostOf(url);
  switch (end.kind) {
    case "answered":
      return endingByStatus(exchange, host);
    case "oversize":
      return status === null
        ? unreachable(`expected an answer of ${host}, got more than ${maxWireBytes / 1024} KiB without one`)
        : endingByStatus(exchange, host);
    case "upgraded":
      return unreachable(`expected an answer of ${host}, got a change of protocol`);
    case "held":
      return {
        ...certainlyOurs,
        // were it only slow, it would be claimed and let go without a pause
        retryAfterMs: 1_000,
        error: `expected to leave ${Math.ceil(end.lateMs)} ms earlier: another may have sent it since, and what comes after it`,
      };
    case "closed":
      return { ...certainlyOurs, error: "expected to run until the answer came, was told to stop" };
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
    retryAfterMs: retryAfterMs(headers["retry-after"], Date.now()) || null,
  };
}

/** @param lateMs how long after the deadline it was seen to be past */
function endingByTime(awaited: AwaitedStep, host: string, deadlineMs: number, lateMs: number): Ending {
  const expected = `expected ${awaited} of ${host} within ${deadlineMs / 1000} s`;
  if (lateMs > stoodStillMs)
    return {
      ...certainlyOurs,
      error: `${expected}, but this machine stood still for ${Math.round(lateMs / 1000)} s`,
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
  const told = `expected ${awaited} of ${host}, got ${wordsForCodes(codes)}`;
  // Servers end connections that are idle, and it may cross what we send. A new one tells how it is.
  if (reused && awaited === "an answer" && codes.every(isBroken))
    return { ...certainlyOurs, error: `${told}, on one that was kept` };
  if (codes.every(isOurs)) return { result: "ours", error: told };
  if (codes.every((code) => code === "ETIMEDOUT")) return { result: "timeout", error: told };
  return unreachable(told);
}

/**
 * No way out is told in more ways than no socket: also by routers that find none to a host, which is every host once
 * ours is gone, by a firewall of this machine, and by one without IPv6. To send again costs less than to give up what
 * was never sent.
 */
const noWayOut = new Set(["EHOSTUNREACH", "EACCES", "EPERM", "EAFNOSUPPORT"]);

function isOurs(code: string): boolean {
  return ownTrouble.has(code) || noWayOut.has(code);
}

function isBroken(code: string): boolean {
  return code === "ECONNRESET" || code === "EPIPE";
}
