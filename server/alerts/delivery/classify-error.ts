/** What became of a letter that got no whole answer, told by what it was waiting for. */

import { ownTrouble } from "../../../shared/measurement/local-errno.js";
import { Unresolved, Unsafe } from "./checked-lookup.js";
import type { Ending } from "./outcome.js";

/** In this order; a connection that was kept starts with the answer. */
export type Awaited = "an address" | "a connection" | "TLS" | "an answer" | "the end of the answer";

/** It may be sent again at once. */
export const certainlyOurs = { result: "ours", retryAfterMs: 0 } as const;

/** As much later than its time comes no deadline on a machine that runs. */
const stoodStillMs = 1000;

/** @param lateMs how long after the deadline it was seen to be past */
export function endingByTime(awaited: Awaited, host: string, deadlineMs: number, lateMs: number): Ending {
  const expected = `expected ${awaited} of ${host} within ${deadlineMs / 1000} s`;
  if (lateMs > stoodStillMs)
    return {
      ...certainlyOurs,
      error: `${expected}, but this machine stood still for ${Math.round(lateMs / 1000)} s`,
    };
  if (awaited === "an address") return { result: "ours", error: `${expected}, the resolver gave none` };
  return { result: "timeout", error: `${expected}, got none` };
}

/**
 * @param reused the connection was kept from an earlier letter
 * @throws what is a bug of ours
 */
export function endingByFault(error: Error, awaited: Awaited, host: string, reused: boolean): Ending {
  if (error instanceof Unsafe) return { result: "unsafe", error: error.message };
  if (error instanceof Unresolved)
    return {
      result: error.isOurs ? "ours" : "unreachable",
      error: error.message,
    };
  const codes = codesOf(error);
  const bug = codes.find((code) => bugs.test(code));
  if (codes.length === 0 || bug !== undefined) throw error;
  const told = `expected ${awaited} of ${host}, got ${codes.map(wordsFor).join(" and ")}`;
  // Servers end connections that are idle, and it may cross what we send. A new one tells how it is.
  if (reused && awaited === "an answer" && codes.every(isBroken))
    return { ...certainlyOurs, error: `${told}, on one that was kept` };
  if (codes.every(isOurs)) return { result: "ours", error: told };
  if (codes.every((code) => code === "ETIMEDOUT")) return { result: "timeout", error: told };
  return { result: "unreachable", error: told };
}

/** One for each address of a host, where none of several can be connected to; none where it is no error of networks. */
function codesOf(error: unknown): string[] {
  if (error instanceof AggregateError) return [...new Set(error.errors.flatMap(codesOf))];
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? [code] : [];
}

/** Node's own, but for those that a stranger can cause. */
const bugs = /^ERR_(?!SSL_|TLS_)/;

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

const words: Record<string, string> = {
  ECONNREFUSED: "a refusal to connect",
  ECONNRESET: "a connection that broke off",
  EPIPE: "a connection that broke off",
  ETIMEDOUT: "no sign in time",
  HPE_HEADER_OVERFLOW: "too many bytes of headers",
  CERT_HAS_EXPIRED: "a certificate that has expired",
  CERT_NOT_YET_VALID: "a certificate that is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "a certificate that vouches for itself",
  SELF_SIGNED_CERT_IN_CHAIN: "a certificate of an authority that is not known",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "a certificate of an authority that is not known",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "a certificate of an authority that is not known",
  ERR_TLS_CERT_ALTNAME_INVALID: "a certificate for another name",
};

/** Never the error's own message, which may have anything in it. */
function wordsFor(code: string): string {
  const said =
    words[code] ??
    (code.startsWith("HPE_") ? "what is no HTTP" : undefined) ??
    (/^(ERR_SSL_|EPROTO$)/.test(code) ? "what is no TLS" : undefined);
  return said === undefined ? code : `${said} (${code})`;
}
