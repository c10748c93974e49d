/** Fetches one document of a feed over HTTP: limited in time and size, and only from the venue's own host. */

import type { IncomingMessage } from "node:http";
import { retryAfterMs } from "../../shared/measurement/retry-after.js";
import { makeBoundedClient } from "../http/bounded-client.js";
import { decompressed, encodingOf, isDecodable, isDecompressionError } from "../http/decompressed.js";
import { maxBodyBytes as limits, maxChunks, wireBytesFor } from "../../shared/untrusted/limits.js";
import { networkCodesOf, wordsForCodes } from "../http/error-words.js";
import type { EndedExchange } from "../http/exchange.js";
import { shown } from "./expected-shape.js";

export interface DocumentFetcherOptions {
  userAgent: string;
  /** Limit of one request, from connecting to the end of the body. Each redirect is another request. */
  deadlineMs?: number;
  /** Counted after decompression. */
  maxBodyBytes?: number;
}

/** Validators that a server sent with a document, for conditional requests. */
export interface Validators {
  etag: string | null;
  lastModified: string | null;
}

export type FetchedDocument =
  { kind: "body"; body: Buffer; validators: Validators } | { kind: "unchanged" } | FetchFailure;

interface Moved {
  kind: "moved";
  to: URL;
}

export interface FetchFailure {
  kind: "failed";
  /** One line: what was expected, and what the server did. */
  problem: string;
  /** Null if there was no answer. */
  status: number | null;
  /** Whether there was no connection, or no complete answer in time. The fault may be in our own network. */
  unanswered: boolean;
  retryAfterMs: number;
}

export interface DocumentFetcher {
  /**
   * @param known the validators of the document that we have; null: none
   * @param turn waits until the host may be requested; called before each request, including redirects
   * @throws only the signal's reason, if it ends the request; never because of the server
   */
  ask(url: string, known: Validators | null, turn: () => Promise<void>, signal: AbortSignal): Promise<FetchedDocument>;
  /** Aborts running requests. */
  close: () => Promise<void>;
}

const mostRedirects = 3;

const clocksDifferMs = 60_000;

/** A ban from a rate-limited API usually ends within an hour; a request before that prolongs it. */
const longestWaitMs = 60 * 60_000;

export function makeDocumentFetcher({
  userAgent,
  deadlineMs = 15_000,
  maxBodyBytes = limits.feed,
}: DocumentFetcherOptions): DocumentFetcher {
  const client = makeBoundedClient();
  const maxWireBytes = wireBytesFor(maxBodyBytes);

  async function ask(
    url: string,
    known: Validators | null,
    turn: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<FetchedDocument> {
    let address = new URL(url);
    for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
      await turn();
      const answer = await requestOnce(address, headers(known), signal);
      if (answer.kind !== "moved") return answer;
      address = answer.to;
    }
    return failed(`redirects more than ${mostRedirects} times`);
  }

  async function requestOnce(address: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Verdict> {
    signal.throwIfAborted();
    let verdict: Verdict | null = null;
    const exchange = await client.exchange({
      ...{ method: "GET", url: address, headers, signal, deadlineMs, maxWireBytes, maxBodyBytes },
      bodyOf(answer) {
        verdict = verdictOf(answer, address);
        return verdict === null ? decompressed(answer) : null;
      },
    });
    if (verdict !== null) return verdict;
    switch (exchange.end.kind) {
      case "answered":
        return documentOf(exchange);
      case "oversize":
        return failed(
          `expected at most ${maxBodyBytes} bytes in at most ${maxChunks} chunks, got more`,
          exchange.status,
        );
      case "upgraded":
        return unanswered("expected an answer, got a change of protocol");
      case "late":
        return unanswered(`expected a whole answer within ${deadlineMs / 1000} s`);
      case "failed":
        return unanswered(problemOf(exchange.end.error));
      default:
        signal.throwIfAborted();
        throw new Error("expected an open client, got a closed one");
    }
  }

  function headers(known: Validators | null): Record<string, string> {
    return {
      "user-agent": userAgent,
      accept: "application/json",
      "accept-encoding": "gzip, br",
      ...(known?.etag && { "if-none-match": known.etag }),
      ...(known?.lastModified && { "if-modified-since": known.lastModified }),
    };
  }

  return { ask, close: client.close };
}

type Verdict = FetchedDocument | Moved;

/** The result of an answer whose body need not be read; null if it must be read. */
function verdictOf({ statusCode: status = 0, headers }: IncomingMessage, from: URL): Verdict | null {
  if (movedStatuses.has(status)) return redirect(status, headers.location ?? "", from);
  if (status === 304) return { kind: "unchanged" };
  if (status !== 200) return refusal(status, headers["retry-after"]);
  if (/^text\/html\b/i.test(headers["content-type"] ?? "")) return failed("answered HTML instead of JSON", status);
  const encoding = encodingOf(headers);
  if (isDecodable(encoding)) return null;
  return failed(`expected gzip, br or no content-encoding, got ${shown(encoding)}`, status);
}

/**
 * Validators that cannot be sent back unchanged are dropped, and so is a time in the future: until that time, the
 * server would call every version unmodified.
 */
function documentOf({ headers, body }: EndedExchange): FetchedDocument {
  const sendable = (value = "") => (/^[\x21-\x7e][\x20-\x7e]{0,500}$/.test(value) ? value : null);
  const lastModified = sendable(headers["last-modified"]);
  const isPast = lastModified !== null && Date.parse(lastModified) <= Date.now() + clocksDifferMs;
  return {
    kind: "body",
    body,
    validators: { etag: sendable(headers.etag), lastModified: isPast ? lastModified : null },
  };
}

export function failed(problem: string, status: number | null = null): FetchFailure {
  return {
    kind: "failed",
    problem,
    status,
    unanswered: false,
    retryAfterMs: 0,
  };
}

export function unanswered(problem: string): FetchFailure {
  return { ...failed(problem), unanswered: true };
}

const movedStatuses = new Set([301, 302, 303, 307, 308]);

function redirect(status: number, location: string, from: URL): FetchFailure | Moved {
  if (location === "" || !URL.canParse(location, from.href))
    return failed(`answered ${status} without a valid location`);
  const to = new URL(location, from.href);
  // Another origin may belong to another owner. The origin of a `blob:` URL is that of the address inside, so protocols
  // are compared, too.
  if (to.origin !== from.origin || to.protocol !== from.protocol)
    return failed(`redirects to ${placeOf(to)}, which is another origin`);
  return { kind: "moved", to };
}

/** Binance answers 418 to a client that it has banned, with the length of the ban. */
const rations = new Set([418, 429, 503]);

export function refusal(status: number, retryAfter: string | undefined): FetchFailure {
  const waitMs = rations.has(status)
    ? retryAfterMs(retryAfter, Date.now(), { longestMs: longestWaitMs, credibleMs: Infinity })
    : 0;
  return { ...failed(`answered ${status}`, status), retryAfterMs: waitMs };
}

/** Scheme and host only. The scheme is included because it may be the only difference. */
function placeOf({ protocol, host }: URL): string {
  return host === "" ? protocol : `${protocol}//${host}`;
}

/** @throws the error itself if it is a bug of ours */
export function problemOf(error: Error): string {
  if (isDecompressionError(error))
    return `expected a body that can be decompressed, got ${(error as NodeJS.ErrnoException).code}`;
  return `expected an answer, got ${wordsForCodes(networkCodesOf(error))}`;
}
