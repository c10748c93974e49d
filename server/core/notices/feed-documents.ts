/** Fetches one document of a feed over HTTP: limited in time and size, and only from the venue's own host. */
import type { ClientRequest, IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { mebibyte } from "../../../shared/config/byte-units.js";
import { makeBoundedClient } from "../../../shared/http/bounded-client.js";
import {
  decompressed,
  encodingOf,
  type EndedExchange,
  isDecodable,
  isDecompressionError,
  networkCodesOf,
  wordsForCodes,
} from "../../../shared/http/exchange.js";
import {
  limitArrival,
  maxBodyBytes as limits,
  maxChunks,
  maxHandshakeBytes,
  socketLimits,
  wireBytesFor,
} from "../../../shared/http/limits.js";
import { retryAfterMs } from "../../../shared/http/retry-after.js";
import { shownValue } from "./expected-shape.js";
import type { PushedDocument } from "./feed.js";

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

type FetchedDocument =
  | { kind: "body"; body: Buffer; validators: Validators; ageMs: number }
  | { kind: "unchanged"; ageMs: number }
  | FetchFailure;

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
    return failureOf(`redirects more than ${mostRedirects} times`);
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
        return failureOf(
          `expected at most ${maxBodyBytes} bytes in at most ${maxChunks} chunks, got more`,
          exchange.status,
        );
      case "upgraded":
        return unansweredFailure("expected an answer, got a change of protocol");
      case "late":
        return unansweredFailure(`expected a whole answer within ${deadlineMs / 1000} s`);
      case "failed":
        return unansweredFailure(problemOf(exchange.end.error));
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
  if (movedStatuses.has(status)) return redirected(status, headers.location ?? "", from);
  if (status === 304) return { kind: "unchanged", ageMs: ageMsOf(headers) };
  if (status !== 200) return refusalFailure(status, headers["retry-after"]);
  if (/^text\/html\b/i.test(headers["content-type"] ?? "")) return failureOf("answered HTML instead of JSON", status);
  const encoding = encodingOf(headers);
  if (isDecodable(encoding)) return null;
  return failureOf(`expected gzip, br or no content-encoding, got ${shownValue(encoding)}`, status);
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
    ageMs: ageMsOf(headers),
  };
}

/** How long a cache has had the answer (RFC 9111, 5.1); 0 where none says so. */
function ageMsOf({ age = "" }: IncomingMessage["headers"]): number {
  return /^\d{1,9}$/.test(age) ? Number(age) * 1000 : 0;
}

function failureOf(problem: string, status: number | null = null): FetchFailure {
  return {
    kind: "failed",
    problem,
    status,
    unanswered: false,
    retryAfterMs: 0,
  };
}

function unansweredFailure(problem: string): FetchFailure {
  return { ...failureOf(problem), unanswered: true };
}

const movedStatuses = new Set([301, 302, 303, 307, 308]);

function redirected(status: number, location: string, from: URL): FetchFailure | Moved {
  if (location === "" || !URL.canParse(location, from.href))
    return failureOf(`answered ${status} without a valid location`);
  const to = new URL(location, from.href);
  // Another origin may belong to another owner. The origin of a `blob:` URL is that of the address inside, so protocols
  // are compared, too.
  if (to.origin !== from.origin || to.protocol !== from.protocol)
    return failureOf(`redirects to ${placeOf(to)}, which is another origin`);
  return { kind: "moved", to };
}

/** Binance answers 418 to a client that it has banned, with the length of the ban. */
const rationingStatuses = new Set([418, 429, 503]);

function refusalFailure(status: number, retryAfter: string | undefined): FetchFailure {
  const waitMs = rationingStatuses.has(status)
    ? retryAfterMs(retryAfter, Date.now(), { longestMs: longestWaitMs, credibleMs: Infinity })
    : 0;
  return { ...failureOf(`answered ${status}`, status), retryAfterMs: waitMs };
}

/** Scheme and host only. The scheme is included because it may be the only difference. */
function placeOf({ protocol, host }: URL): string {
  return host === "" ? protocol : `${protocol}//${host}`;
}

/** @throws the error itself if it is a bug of ours */
function problemOf(error: Error): string {
  if (isDecompressionError(error))
    return `expected a body that can be decompressed, got ${(error as NodeJS.ErrnoException).code}`;
  return `expected an answer, got ${wordsForCodes(networkCodesOf(error))}`;
}

// Receives one document that a server pushes over a WebSocket: limited in time and size. Nothing stays connected.

export interface ListeningOptions extends Pick<DocumentFetcherOptions, "userAgent" | "deadlineMs"> {
  at: Date;
  signal: AbortSignal;
  /** How long after its newest frame a server counts as silent. */
  quietMs?: number;
}

/** An announcement is a text of some kilobytes. */
const maxBytes = mebibyte;
const maxFrames = 100;

const socketOptions = { maxPayload: maxBytes, closeTimeout: 1000, ...socketLimits };

/**
 * @returns the frames as one JSON list
 * @throws only the signal's reason, if it ends the listening; never because of the server
 */
export async function listenToDocument(
  url: string,
  pushed: PushedDocument,
  { userAgent, deadlineMs = 15_000, quietMs = 5000, at, signal }: ListeningOptions,
): Promise<FetchedDocument> {
  signal.throwIfAborted();
  const headers = { "user-agent": userAgent };
  const ws = new WebSocket(url, { headers, rejectUnauthorized: true, ...socketOptions, finishRequest: limitPieces });
  const deadline = deadlineIn(deadlineMs, signal);
  let quietTimer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<FetchedDocument>((resolve, reject) => {
      const frames = collectFrames(pushed, resolve);
      const late = unansweredFailure(`expected an answer within ${deadlineMs / 1000} s`);
      deadline.signal.addEventListener("abort", () =>
        deadline.isPast() ? resolve(late) : reject(signal.reason as Error),
      );
      ws.on("open", () => ws.send(pushed.request(at)));
      ws.on("flood", () => resolve(failureOf(floodProblem)));
      ws.on("message", (data: Buffer) => {
        clearTimeout(quietTimer);
        if (!frames.add(data.toString())) quietTimer = setTimeout(frames.end, quietMs);
      });
      ws.on("unexpected-response", (_request, { statusCode = 0, headers }) =>
        resolve(refusalFailure(statusCode, headers["retry-after"])),
      );
      ws.on("error", (error) => resolve(brokenBy(error)));
      ws.on("close", () => resolve(unansweredFailure("expected an answer, got a closed connection")));
    });
  } finally {
    deadline.clear();
    clearTimeout(quietTimer);
    ws.close();
  }
}

function collectFrames(pushed: PushedDocument, resolve: (document: FetchedDocument) => void) {
  const frames: string[] = [];
  let bytes = 0;
  // a server may keep pushing until the socket is closed
  let hasEnded = false;
  return { add, end };

  /** Returns whether the document has ended with this frame. */
  function add(frame: string): boolean {
    if (hasEnded) return true;
    frames.push(frame);
    bytes += Buffer.byteLength(frame);
    if (bytes > maxBytes || frames.length > maxFrames) {
      hasEnded = true;
      resolve(failureOf(`expected at most ${maxFrames} frames of ${maxBytes} bytes together, got more`));
      return true;
    }
    if (!pushed.isLast(frame)) return false;
    end();
    return true;
  }

  function end() {
    hasEnded = true;
    resolve({
      kind: "body",
      body: Buffer.from(`[${frames.join(",")}]`),
      validators: { etag: null, lastModified: null },
      ageMs: 0,
    });
  }
}

const floodProblem = `expected at most ${wireBytesFor(maxBytes)} bytes in at most ${maxChunks} chunks, got more`;

/** Also counts what emits no event: interim answers, pings, and fragments. */
function limitPieces(request: ClientRequest, ws: WebSocket): void {
  const onFlood = () => {
    ws.emit("flood");
    ws.terminate();
  };
  request.on("socket", (socket) => {
    const stop = limitArrival(socket, { maxBytes: maxHandshakeBytes }, onFlood);
    ws.once("open", () => {
      stop();
      limitArrival(socket, { maxBytes: wireBytesFor(maxBytes) }, onFlood);
    });
  });
  request.end();
}

function brokenBy(error: Error): FetchedDocument {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return failureOf("expected a WebSocket, got another answer");
  if (code.startsWith("WS_ERR_")) return failureOf(`expected frames of at most ${maxBytes} bytes, got ${code}`);
  return unansweredFailure(problemOf(error));
}

/** Ends a piece of work: when its time is up, or when the caller's signal aborts. */
export interface Deadline {
  signal: AbortSignal;
  /** Whether it ended because its time was up. */
  isPast: () => boolean;
  /** To be called when the work is done: removes the timer and the listener on the outer signal. */
  clear: () => void;
}

export function deadlineIn(ms: number, outer: AbortSignal): Deadline {
  const ending = new AbortController();
  const end = () => ending.abort(outer.reason);
  const late = new Error(`not done within ${ms} ms`);
  const timer = setTimeout(() => ending.abort(late), ms);
  if (outer.aborted) end();
  outer.addEventListener("abort", end, { once: true });
  return {
    signal: ending.signal,
    isPast: () => ending.signal.reason === late,
    clear() {
      clearTimeout(timer);
      outer.removeEventListener("abort", end);
    },
  };
}
