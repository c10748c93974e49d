/** How an attempt ended that brought no answer: whether the receiver failed, or possibly we did. */
import { type AwaitedStep, networkCodesOf, wordsForCodes } from "../../../shared/http/exchange.js";
import { Unresolved, Unsafe } from "../../../shared/http/safe-address.js";
import { ownTrouble } from "../../../shared/measurement/local-errno.js";
import type { Ending } from "./retry-rules.js";

/** The alert may be sent again at once. */
export const certainlyOurs = { result: "ours", retryAfterMs: 0 } as const;

export const stoppingEnding: Ending = {
  ...certainlyOurs,
  error: "expected to wait for the answer, but this program is stopping",
};

/** @param lateMs by how much the connection was ready too late to send */
export function unsentEnding(lateMs: number): Ending {
  return {
    ...certainlyOurs,
    // without this pause, a connection that is merely slow would be claimed and given up again and again
    retryAfterMs: 1_000,
    error: `expected a connection ${Math.ceil(lateMs)} ms earlier: another dispatcher may have sent this and later alerts since`,
  };
}

export function unreachableEnding(error: string): Ending {
  return { result: "unreachable", error };
}

/** A deadline that fires this late shows that the machine stalled. */
const stalledMs = 1000;

/** @param lateMs how long after the deadline the exchange was ended */
export function endingByTime(awaited: AwaitedStep, host: string, deadlineMs: number, lateMs: number): Ending {
  const expected = `expected ${awaited} of ${host} within ${deadlineMs / 1000} s`;
  if (lateMs > stalledMs)
    return {
      ...certainlyOurs,
      error: `${expected}, but this machine stalled for ${Math.round(lateMs / 1000)} s`,
    };
  if (awaited === "an address") return { result: "ours", error: `${expected}, the resolver gave none` };
  return { result: "timeout", error: `${expected}, got none` };
}

interface FailedStep {
  awaited: AwaitedStep;
  /** Whether the connection was reused from an earlier attempt. */
  reused: boolean;
}

export function endingByFault({ awaited, reused }: FailedStep, host: string, error: Error): Ending {
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
  return unreachableEnding(message);
}

/**
 * Errors that may mean that this machine has no route. Routers report some of them if they find no route to a host,
 * which is the case for every host once our own network is down. Others come from a firewall on this machine, or from a
 * machine without IPv6. A needless retry costs less than giving up an alert that was never sent.
 */
const addressRefusedErrnos = new Set(["EHOSTUNREACH", "EACCES", "EPERM", "EAFNOSUPPORT"]);

function isOurs(code: string): boolean {
  return ownTrouble.has(code) || addressRefusedErrnos.has(code);
}

function isBroken(code: string): boolean {
  return code === "ECONNRESET" || code === "EPIPE";
}
