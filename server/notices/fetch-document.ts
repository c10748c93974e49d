/** Asks for one document of a feed over HTTP: bounded in time and size, and on the venue's own host. */

import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { Agent, request, type Dispatcher } from "undici";
import { retryAfterMs } from "../../shared/measurement/retry-after.js";
import { deadlineIn } from "./deadline.js";
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
  close(): Promise<void>;
}

const mostRedirects = 3;

/** A ban from a rationed API ends within an hour, mostly; who asks sooner is banned for longer. */
const longestWaitMs = 60 * 60_000;

export function makeDocumentFetcher({
  userAgent,
  deadlineMs = 15_000,
  maxBodyBytes = 16 * 1024 * 1024,
}: DocumentFetcherOptions): DocumentFetcher {
  const agent = new Agent({
    // The deadline of the whole stands above these.
    headersTimeout: 0,
    bodyTimeout: 0,
    autoSelectFamily: true,
    // Node's 250 ms would give up an address that is good and far away.
    autoSelectFamilyAttemptTimeout: 1000,
  });

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

  async function requestOnce(
    address: URL,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<FetchedDocument | Moved> {
    signal.throwIfAborted();
    const deadline = deadlineIn(deadlineMs, signal);
    try {
      const response = await request(address, {
        dispatcher: agent,
        headers,
        signal: deadline.signal,
      });
      return isRedirect(response) ? redirect(response, address) : await answerOf(response);
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.isPast()) return unanswered(`expected a whole answer within ${deadlineMs / 1000} s`);
      return unanswered(problemOf(error));
    } finally {
      deadline.clear();
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

  async function answerOf(response: Dispatcher.ResponseData): Promise<FetchedDocument> {
    const { statusCode, body } = response;
    if (statusCode !== 200) drop(body);
    if (statusCode === 304) return { kind: "unchanged" };
    if (statusCode !== 200) return refusal(response);
    if (/^text\/html\b/i.test(header(response, "content-type"))) {
      drop(body);
      return failed("answered HTML instead of JSON", statusCode);
    }
    return wholeBody(response);
  }

  async function wholeBody(response: Dispatcher.ResponseData): Promise<FetchedDocument> {
    const encoding = header(response, "content-encoding").trim().toLowerCase();
    const stream = decompressed(response.body, encoding);
    if (stream === null) {
      drop(response.body);
      return failed(`expected gzip, br or no content-encoding, got ${shown(encoding)}`, 200);
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) return failed(`expected at most ${maxBodyBytes} bytes, got more`, response.statusCode);
      chunks.push(chunk);
    }
    return {
      kind: "body",
      text: new TextDecoder().decode(Buffer.concat(chunks)),
      validators: validatorsOf(response),
    };
  }

  return { ask, close: () => agent.destroy() };
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

function redirect(response: Dispatcher.ResponseData, from: URL): FetchFailure | Moved {
  const { statusCode } = response;
  drop(response.body);
  const to = redirectedTo(response, from);
  if (to === null) return failed(`answered ${statusCode} without an address to go to`);
  // Who moves a feed elsewhere moves it to another owner, perhaps. The origin of `blob:` is that of the address within.
  if (to.origin !== from.origin || to.protocol !== from.protocol)
    return failed(`redirects to ${placeOf(to)}, which is not its own`);
  return { kind: "moved", to };
}

/** Binance says 418 to whom it has banned, and for how long. */
const rations = new Set([418, 429, 503]);

function refusal(response: Dispatcher.ResponseData): FetchFailure {
  const { statusCode } = response;
  const waitMs = retryAfterMs(response.headers["retry-after"], Date.now(), longestWaitMs);
  return {
    ...failed(`answered ${statusCode}`, statusCode),
    retryAfterMs: rations.has(statusCode) ? waitMs : 0,
  };
}

/** Its connection is given up with it: a body that nobody reads may be endless. */
function drop(body: Readable): void {
  // The error of having been dropped.
  body.on("error", () => {});
  body.destroy();
}

function isRedirect({ statusCode }: Dispatcher.ResponseData): boolean {
  return [301, 302, 303, 307, 308].includes(statusCode);
}

function redirectedTo(response: Dispatcher.ResponseData, from: URL): URL | null {
  const location = header(response, "location");
  const isAddress = location !== "" && URL.canParse(location, from.href);
  return isAddress ? new URL(location, from.href) : null;
}

/** With its scheme, which may be all that differs, and nothing more. */
function placeOf({ protocol, host }: URL): string {
  return host === "" ? protocol : `${protocol}//${host}`;
}

/** One that is repeated is taken at its first word; empty where there is none. */
function header({ headers }: Dispatcher.ResponseData, name: string): string {
  return [headers[name] ?? ""].flat()[0] ?? "";
}

/** Null where we have no means for it. */
function decompressed(body: Readable, encoding: string): Readable | null {
  switch (encoding) {
    case "":
    case "identity":
      return body;
    case "gzip":
    case "x-gzip":
      return through(body, createGunzip());
    case "br":
      return through(body, createBrotliDecompress());
    default:
      return null;
  }
}

/** Who reads the second gets the errors of both, and ends both. */
function through<Through extends Readable & NodeJS.WritableStream>(body: Readable, next: Through): Readable {
  pipeline(body, next, () => {});
  return next;
}

/** What cannot be sent back as it came is not kept. */
function validatorsOf(response: Dispatcher.ResponseData): Validators {
  const sendable = (name: string) => {
    const value = header(response, name);
    return /^[\x21-\x7e][\x20-\x7e]{0,500}$/.test(value) ? value : null;
  };
  return { etag: sendable("etag"), lastModified: sendable("last-modified") };
}

/** Of our making, whatever the server does. */
const bugs = /^(ERR_INVALID_|ERR_ASSERTION|UND_ERR_(INVALID|DESTROYED|CLOSED))/;

const words: Record<string, string> = {
  ENOTFOUND: "no address of that name",
  ECONNREFUSED: "no connection",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  ECONNRESET: "a connection that broke off",
  UND_ERR_SOCKET: "a connection that broke off",
};

/**
 * Errors of networks, of HTTP and of compression have codes, but for some of undici's parser. @throws whatever else it
 * is
 */
function problemOf(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException;
  if (name === "HTTPParserError") return `expected an answer, got no HTTP (${code ?? name})`;
  if (typeof code !== "string" || bugs.test(code)) throw error;
  const isOfZlib = "errno" in (error as Error) && /^(Z_|ERR_)/.test(code);
  if (isOfZlib) return `expected a body that can be decompressed, got ${code}`;
  return `expected an answer, got ${words[code] ? `${words[code]} (${code})` : code}`;
}
