import { noSocket, noWayOut } from "../../shared/measurement/local-errno.js";
import type { Fault } from "../../shared/measurement/sample.js";
import type { UnmeasuredReason } from "../../shared/measurement/unmeasured.js";
import type { Phase } from "./connection.js";
import { isUnmeasured, type Unmeasured } from "./measurement.js";
import type { ConnectivityMonitor } from "../network/connectivity.js";

/** Why an exchange failed: the venue's fault, or our own trouble. */
export type Cause = { fault: Fault; httpStatus?: number } | { unmeasured: UnmeasuredReason };

/** An answer that is no HTTP, or that breaks its own rules: it did come, and it cannot be read. */
const unreadable = /^(HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_|UND_ERR_RESPONSE)/;

/**
 * Judges an error by how far the connection had come; error codes alone do not tell a reset handshake from a reset
 * answer. It takes for granted that this machine has a way out: `unlessOurNetwork` looks into that.
 */
export function causeOf(error: unknown, phase: Phase): Cause {
  const codes = codesOf(error);
  // A name with addresses of both families fails with one error for each.
  if (codes.some((code) => noSocket.has(code)) && codes.every((code) => noSocket.has(code) || isWayless(code)))
    return { unmeasured: "sockets" };
  if (codes.includes("ETIMEDOUT")) return { fault: "timeout" };
  if (phase !== "exchange") return { fault: phase };
  // In TLS 1.3 a server refuses us only after we believe that the handshake is done.
  if (codes.some((code) => code.startsWith("ERR_SSL_"))) return { fault: "tls" };
  return {
    fault: codes.some((code) => unreadable.test(code)) ? "body" : "closed",
  };
}

/** What a failure without an answer comes to. */
export interface Unanswered {
  host: string;
  /** Since when something was owed to us. */
  sinceMs: number;
  /** What this machine said, if anything. */
  error?: unknown;
  signal?: AbortSignal;
}

/**
 * No answer is a fault of the venue as long as others are answered. With nobody to compare with it is believed to be
 * one, unless it is this machine itself that says it has no way there.
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
 * Said of every host where there is no way out; but of one alone, too: by routers, and of an IPv6 address where there
 * is IPv4 only.
 */
function isWayless(code: string): boolean {
  return noWayOut.has(code) || code === "EHOSTUNREACH";
}

/** What undici says by a message alone: an answer that nobody asked for, an interim one, or another protocol. */
const unasked = /^bad (response|upgrade)$/;

/** A refusal by status, which means the same on a request and on a WebSocket upgrade. */
export function causeOfRefusal(httpStatus: number): Cause | null {
  if (httpStatus === 403 || httpStatus === 451) return { fault: "blocked", httpStatus };
  if (httpStatus === 429 || httpStatus === 418) return { fault: "limited", httpStatus };
  return null;
}

/** Undici's parser errors come with a code or without. */
function codesOf(error: unknown): string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(codesOf);
  if (!(error instanceof Error)) return [];
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (unasked.test(message)) return ["UND_ERR_RESPONSE"];
  return [code ?? name];
}
