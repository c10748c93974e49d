/** Asks for one document of a feed over HTTP: bounded in time and size, and on the venue's own host. */

import type { IncomingMessage } from "node:http";
import { retryAfterMs } from "../../shared/measurement/retry-after.js";
import { makeBoundedClient } from "../http/bounded-client.js";
import { decompressed, encodingOf, isDecodable, isDecompressionError } from "../http/decompressed.js";
import { networkCodesOf, wordsForCodes } from "../http/error-words.js";
import type { EndedExchange } from "../http/exchange.js";
import { shown } from "./shape.js";

export interface DocumentFetcherOptions {
  userAgent: string;
  /** For one request, from connecting to the end of the body. A redirect leads to another one. */
  deadlineMs?: number;
  /** Counted after decompression. */
  maxBodyBytes?: number;
}

/** What a server gave with a document, to ask by whether it has changed. */
export interface Validators {
  etag: string | null;
  lastModified: string | null;
}

export type FetchedDocument =
  { kind: "body"; text: string; validators: Validators } | { kind: "unchanged" } | FetchFailure;

interface Moved {
  kind: "moved";
  to: URL;
}

export interface FetchFailure {
  kind: "failed";
  /** One line: what was expected, what came. */
  problem: string;
  /** Null where there was no answer. */
  status: number | null;
  /** Nothing came back: no connection, or no whole answer in time. It may be our own network. */
  unanswered: boolean;
  retryAfterMs: number;
}

export interface DocumentFetcher {
  /**
   * @param known of the document that we have; null: none
   * @param turn waits until the host may be asked; before each request, those of redirects included
   * @throws the signal's reason where it ends the asking; nothing for what a server does
   */
  ask(url: string, known: Validators | null, turn: () => Promise<void>, signal: AbortSignal): Promise<FetchedDocument>;
  /** Cuts what is under way. */
  close: () => Promise<void>;
}

const mostRedirects = 3;

/** A ban from a rationed API ends within an hour, mostly; who asks sooner is banned for longer. */
const longestWaitMs = 60 * 60_000;

export function makeDocumentFetcher({
  userAgent,
  deadlineMs = 15_000,
  maxBodyBytes = 16 * 1024 * 1024,
}: DocumentFetcherOptions): DocumentFetcher {
  const client = makeBoundedClient();
  // Headers and framing of an honest answer are far less than its largest body.
  const maxWireBytes = 2 * maxBodyBytes + 64 * 1024;

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
        return failed(`expected at most ${maxBodyBytes} bytes, got more`, exchange.status);
      case "upgraded":
        return unanswered("expected an answer, got a change of protocol");
      case "late":
        return unanswered(`expected a whole answer within ${deadlineMs / 1000} s`);
      case "failed":
        return unanswered(problemOf(exchange.end.error));
      default:
        signal.throwIfAborted();
        throw new Error("expected a client to ask with, got a destroyed one");
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

/** What comes of an answer without its body; null where that is to be read. */
function verdictOf({ statusCode: status = 0, headers }: IncomingMessage, from: URL): Verdict | null {
  if (movedStatuses.has(status)) return redirect(status, headers.location ?? "", from);
  if (status === 304) return { kind: "unchanged" };
  if (status !== 200) return refusal(status, headers["retry-after"]);
  if (/^text\/html\b/i.test(headers["content-type"] ?? "")) return failed("answered HTML instead of JSON", status);
  const encoding = encodingOf(headers);
  if (isDecodable(encoding)) return null;
  return failed(`expected gzip, br or no content-encoding, got ${shown(encoding)}`, status);
}

/** What cannot be sent back as it came is not kept of it. */
function documentOf({ headers, chunks }: EndedExchange): FetchedDocument {
  const sendable = (value = "") => (/^[\x21-\x7e][\x20-\x7e]{0,500}$/.test(value) ? value : null);
  return {
    kind: "body",
    text: new TextDecoder().decode(Buffer.concat(chunks)),
    validators: { etag: sendable(headers.etag), lastModified: sendable(headers["last-modified"]) },
  };
}

function failed(problem: string, status: number | null = null): FetchFailure {
  return {
    kind: "failed",
    problem,
    status,
    unanswered: false,
    retryAfterMs: 0,
  };
}

function unanswered(problem: string): FetchFailure {
  return { ...failed(problem), unanswered: true };
}

const movedStatuses = new Set([301, 302, 303, 307, 308]);

function redirect(status: number, location: string, from: URL): FetchFailure | Moved {
  if (location === "" || !URL.canParse(location, from.href))
    return failed(`answered ${status} without an address to go to`);
  const to = new URL(location, from.href);
  // Who moves a feed elsewhere moves it to another owner, perhaps. The origin of `blob:` is that of the address within.
  if (to.origin !== from.origin || to.protocol !== from.protocol)
    return failed(`redirects to ${placeOf(to)}, which is not its own`);
  return { kind: "moved", to };
}

/** Binance says 418 to whom it has banned, and for how long. */
const rations = new Set([418, 429, 503]);

function refusal(status: number, retryAfter: string | undefined): FetchFailure {
  const waitMs = rations.has(status) ? retryAfterMs(retryAfter, Date.now(), longestWaitMs) : 0;
  return { ...failed(`answered ${status}`, status), retryAfterMs: waitMs };
}

/** With its scheme, which may be all that differs, and nothing more. */
function placeOf({ protocol, host }: URL): string {
  return host === "" ? protocol : `${protocol}//${host}`;
}

/** @throws what is a bug of ours */
function problemOf(error: Error): string {
  if (isDecompressionError(error))
    return `expected a body that can be decompressed, got ${(error as NodeJS.ErrnoException).code}`;
  return `expected an answer, got ${wordsForCodes(networkCodesOf(error))}`;
}
