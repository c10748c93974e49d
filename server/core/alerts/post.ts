/**
 * Posts alerts to receivers. A receiver may be faulty or hostile, so time and size of each attempt are limited, and
 * nothing is sent to an unsafe address. Each attempt returns its outcome.
 */
import { makeBoundedClient } from "../../../shared/http/bounded-client.js";
import {
  type AwaitedStep,
  type BoundedRequest,
  type EndedExchange,
  networkCodesOf,
  wordsForCodes,
} from "../../../shared/http/exchange.js";
import { maxInterim, maxReceiptBytes } from "../../../shared/http/limits.js";
import { retryAfterMs } from "../../../shared/http/retry-after.js";
import { checkedLookup, type Lookup, makeLookup, Unresolved, Unsafe } from "../../../shared/http/safe-address.js";
import { ownTrouble } from "../../../shared/measurement/local-errno.js";
import type { WebhookRequest } from "./formats/webhook-request.js";
import { bareHostOf, problemOfUrl } from "./receiver-url.js";
import type { DeliveryOutcome, Ending } from "./retry-rules.js";

/** The time limit in the contract. */
export const answerWithinMs = 10_000;

export interface Poster {
  /**
   * Makes one attempt, and follows no redirects.
   *
   * @param leaveByMs on this machine's monotonic clock. If the connection is not ready by then, the request is not
   * sent, and the outcome is `ours`
   * @throws only if we have a bug, such as a header that cannot be sent
   */
  post: (request: WebhookRequest, leaveByMs?: number) => Promise<DeliveryOutcome>;
  /** Aborts attempts in progress and refuses later ones. The outcome of all of them is `ours`. */
  close: () => Promise<void>;
}

export interface PosterOptions {
  /** Allows alerts to this machine, also over http. */
  allowLoopback: boolean;
  /** Limit of the whole attempt, from resolving the host's name to the end of the answer. */
  deadlineMs?: number;
  /** Certificate authorities to trust instead of the usual ones. */
  ca?: string;
  lookup?: Lookup;
}

/** Callers make at most one attempt for a channel at a time. */
export function makePoster({
  allowLoopback,
  deadlineMs = answerWithinMs,
  ca,
  lookup = makeLookup(),
}: PosterOptions): Poster {
  const client = makeBoundedClient(checkedLookup(lookup, allowLoopback), ca);

  async function post(request: WebhookRequest, leaveByMs = Infinity): Promise<DeliveryOutcome> {
    const startMs = performance.now();
    const ending = await send(request, leaveByMs);
    return {
      status: null,
      error: null,
      answer: null,
      retryAfterMs: null,
      ...ending,
      durationMs: Math.round(performance.now() - startMs),
    };
  }

  async function send(webhook: WebhookRequest, leaveByMs: number): Promise<Ending> {
    const { url, headers, body } = webhook;
    const problem = problemOfUrl(url.href, allowLoopback);
    if (problem !== null) return { result: "unsafe", error: problem };
    // Node would verify the certificate for the name in that header, instead of the name in the URL.
    if (Object.keys(headers).some((name) => /^host$/i.test(name)))
      throw new Error("expected a request without a host header, got one");
    const request: BoundedRequest = {
      ...{ method: "POST", url, headers: { ...headers, "content-length": String(body.length) }, body },
      ...{ deadlineMs, leaveByMs, maxWireBytes: maxReceiptBytes },
    };
    const exchange = await client.exchange(request);
    return {
      status: exchange.status,
      answer: beginningOf(exchange.body, webhook),
      ...endingOf(exchange, request),
    };
  }

  return { post, close: client.close };
}

// Classifies a delivery attempt by how its HTTP exchange ended and which step it was waiting for.

/** The alert may be sent again at once. */
const certainlyOurs = { result: "ours", retryAfterMs: 0 } as const;

/** A deadline that fires this late shows that the machine stalled. */
const stalledMs = 1000;

/** @throws the error if it is a bug of ours */
function endingOf(exchange: EndedExchange, { url, deadlineMs, maxWireBytes }: BoundedRequest): Ending {
  const { end, status } = exchange;
  const host = bareHostOf(url);
  switch (end.kind) {
    case "answered":
      return endingByStatus(exchange, host);
    case "oversize":
      return status === null
        ? unreachableEnding(
            `expected an answer of ${host}, got more than ${maxWireBytes / 1024} KiB or ${maxInterim} interim answers without one`,
          )
        : endingByStatus(exchange, host);
    case "upgraded":
      return unreachableEnding(`expected an answer of ${host}, got a change of protocol`);
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

function unreachableEnding(error: string): Ending {
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

const mostCharacters = 1000;

/** Characters that change the writing direction, and invisible characters. */
const invisibleCharacters = /[\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/**
 * The beginning of an answer as text that can be stored and shown. Control characters except line ends become spaces,
 * and invisible characters are removed. The request's secrets, including the path and query of its URL, are replaced by
 * an ellipsis, because servers often repeat them in errors.
 *
 * @returns null if no text is left
 */
function beginningOf(answer: Buffer, request: WebhookRequest): string | null {
  const clean = [...(request.secrets ?? []), ...secretsOf(request.url)]
    .reduce((text, secret) => text.replaceAll(secret, "…"), new TextDecoder().decode(answer))
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n]/gu, " ")
    .replace(invisibleCharacters, "")
    .trim();
  const beginning = [...clean].slice(0, mostCharacters).join("");
  return beginning === "" ? null : beginning;
}

/** Longer parts first, because they contain the others. A part that is shorter than any key may occur in any text. */
function secretsOf({ pathname, search }: URL): string[] {
  const parts = (pathname + search).split(/[/?&=]/);
  return [
    ...[pathname + search, pathname, search].filter((part) => part.length > 1),
    ...parts.filter((part) => part.length >= 8),
  ];
}
