import { noSocket, noWayOut } from "../../shared/measurement/local-errno.js";
import type { Fault, UnmeasuredReason } from "../../shared/measurement/sample.js";
import type { ConnectivityMonitor } from "../network/own-network.js";
import type { Phase } from "./connection.js";
import { isUnmeasured, type Unmeasured } from "./measurement.js";

/** Why an exchange failed: a fault of the venue, or probe trouble. */
export type Cause = VenueFault | { unmeasured: UnmeasuredReason };

export interface VenueFault {
  fault: Fault;
  httpStatus?: number;
}

/** An answer arrived, but it is not HTTP or violates the protocol. */
const unreadableCodes = /^(HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_|UND_ERR_RESPONSE)/;

/**
 * Classifies an error by the phase of the connection, because error codes alone do not distinguish a reset handshake
 * from a reset answer. It assumes that this machine has a way out, which `unlessOurNetwork` checks.
 */
export function causeOf(error: unknown, phase: Phase): Cause {
  const codes = codesOf(error);
  // A name with addresses of both IP families fails with one error for each address.
  if (codes.some((code) => noSocket.has(code)) && codes.every((code) => noSocket.has(code) || isWayless(code)))
    return { unmeasured: "sockets" };
  if (codes.includes("ETIMEDOUT")) return { fault: "timeout" };
  if (phase !== "exchange") return { fault: phase };
  // In TLS 1.3 a server may refuse the handshake after the client considers it complete.
  if (codes.some((code) => code.startsWith("ERR_SSL_"))) return { fault: "tls" };
  return {
    fault: codes.some((code) => unreadableCodes.test(code)) ? "body" : "closed",
  };
}

/** A failure without an answer. */
export interface Unanswered {
  host: string;
  /** Since when an answer was due. */
  sinceMs: number;
  /** This machine's error, if any. */
  error?: unknown;
  signal?: AbortSignal;
}

/**
 * A missing answer is a fault of the venue as long as other hosts answer. If there is no other host to compare with, it
 * also counts as the venue's fault, unless this machine itself reports that it has no route.
 */
export async function unlessOurNetwork<Found extends object>(
  cause: Found,
  { host, sinceMs, error, signal }: Unanswered,
  reach: ConnectivityMonitor,
): Promise<Found | Unmeasured> {
  if (isUnmeasured(cause)) return cause;
  const way = await reach.wayOut(host, sinceMs, signal);
  const codes = codesOf(error);
  const saysNoWay = codes.length > 0 && codes.every(isWayless);
  return way === "shut" || (way === "unknown" && saysNoWay) ? { unmeasured: "network" } : cause;
}

/**
 * Whether an error says that there is no route. That is so for every host if this machine has no way out. It also
 * occurs for a single host: if a router reports it, or for an IPv6 address where there is only IPv4.
 */
function isWayless(code: string): boolean {
  return noWayOut.has(code) || code === "EHOSTUNREACH";
}

/** Undici reports these only by message: an unrequested answer, an unexpected interim one, or another protocol. */
const unaskedMessages = /^bad (response|upgrade)$/;

/** A refusal by HTTP status, which means the same for a request and for a WebSocket upgrade. */
export function causeOfRefusal(httpStatus: number): VenueFault | null {
  if (httpStatus === 403 || httpStatus === 451) return { fault: "blocked", httpStatus };
  if (limitingStatuses.has(httpStatus)) return { fault: "limited", httpStatus };
  return null;
}

/** Binance answers 418 to a client that it has banned; CoinPaprika and dRPC answer 402 when a free share is used up. */
const limitingStatuses: ReadonlySet<number> = new Set([402, 418, 429]);

/** Some parser errors of undici have no code. */
function codesOf(error: unknown): string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(codesOf);
  if (!(error instanceof Error)) return [];
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (unaskedMessages.test(message)) return ["UND_ERR_RESPONSE"];
  return [code ?? name];
}
