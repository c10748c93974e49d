import { noSocket, ownTrouble } from "../server/own-trouble.js";
import type { Fault } from "../server/sample.js";
import type { UnmeasuredReason } from "../server/unmeasured.js";
import type { Phase } from "./connection.js";

/** Why an exchange failed: the venue's fault, or our own trouble. */
export type Cause =
  { fault: Fault; httpStatus?: number } | { unmeasured: UnmeasuredReason };

/** An answer that is no HTTP, or that breaks its own rules: it did come, and it cannot be read. */
const unreadable =
  /^(HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_|UND_ERR_RESPONSE)/;

/**
 * Judges an error by how far the connection had come; error codes alone do not tell a reset handshake from a reset answer.
 *
 * @param othersReached whether other hosts were reached just now
 */
export function causeOf(
  error: unknown,
  phase: Phase,
  othersReached: boolean,
): Cause {
  const codes = codesOf(error);
  // Routers say it of a host that is gone, and of every host once their own way out is gone.
  const isOurs = (code: string) =>
    ownTrouble.has(code) || (code === "EHOSTUNREACH" && !othersReached);
  // A name with addresses of both families fails with one error for each.
  if (codes.length > 0 && codes.every(isOurs))
    return {
      unmeasured: codes.some((code) => noSocket.has(code))
        ? "sockets"
        : "network",
    };
  if (codes.includes("ETIMEDOUT")) return { fault: "timeout" };
  if (phase !== "exchange") return { fault: phase };
  // In TLS 1.3 a server refuses us only after we believe that the handshake is done.
  if (codes.some((code) => code.startsWith("ERR_SSL_")))
    return { fault: "tls" };
  return {
    fault: codes.some((code) => unreadable.test(code)) ? "body" : "closed",
  };
}

/** What undici says by a message alone: an answer that nobody asked for, an interim one, or another protocol. */
const unasked = /^bad (response|upgrade)$/;

/** A refusal by status, which means the same on a request and on a WebSocket upgrade. */
export function causeOfRefusal(httpStatus: number): Cause | null {
  if (httpStatus === 403 || httpStatus === 451)
    return { fault: "blocked", httpStatus };
  if (httpStatus === 429 || httpStatus === 418)
    return { fault: "limited", httpStatus };
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
