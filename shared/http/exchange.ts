/** Runs one HTTP exchange: a request and its answer, limited in time, bytes and pieces. */
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { limitArrival, makeAnswerBody, maxInterim } from "./limits.js";

export interface BoundedRequest {
  method: "GET" | "POST";
  url: URL;
  headers: Record<string, string>;
  body?: Buffer;
  /** Limit of the whole exchange, from resolving the host's name to the end of the answer. */
  deadlineMs: number;
  /** On the monotonic clock. If the connection is only ready later, nothing is sent. */
  leaveByMs?: number;
  /** Limit of all bytes that arrive on the connection. */
  maxWireBytes: number;
  /** Limit of the body as `bodyOf` returns it; default: that of all bytes. */
  maxBodyBytes?: number;
  /** The stream from which to read the body, instead of the answer; null: the exchange ends without the body. */
  bodyOf?: (answer: IncomingMessage) => Readable | null;
  /** Ends the exchange as `closed`. */
  signal?: AbortSignal;
}

/** The steps in their order. On a reused connection, the answer is the first. */
export type AwaitedStep = "an address" | "a connection" | "TLS" | "an answer" | "the end of the answer";

/**
 * `answered`: the requested part of the answer is complete. `oversize`: it has more bytes, chunks or interim answers
 * than its limits. `unsent`: the connection was ready only `lateMs` after `leaveByMs`, so nothing was sent. `late`: the
 * exchange was ended `lateMs` after its deadline.
 */
export type ExchangeEnd =
  | { kind: "answered" | "oversize" | "upgraded" | "closed" }
  | { kind: "unsent" | "late"; lateMs: number }
  | { kind: "failed"; error: Error };

export interface EndedExchange {
  end: ExchangeEnd;
  /** The step at which the exchange ended. */
  awaited: AwaitedStep;
  /** Whether the connection was reused from an earlier request. */
  reused: boolean;
  /** Null if there was no answer. */
  status: number | null;
  headers: IncomingHttpHeaders;
  /** The part of the body that was read. */
  body: Buffer;
}

/** @param open reports the steps before the request has a socket to watch */
export function runExchange(
  { url, body, deadlineMs, leaveByMs = Infinity, maxWireBytes, maxBodyBytes = maxWireBytes, ...more }: BoundedRequest,
  signals: AbortSignal[],
  open: (onStep: (step: AwaitedStep) => void) => ClientRequest,
): Promise<EndedExchange> {
  const dueMs = performance.now() + deadlineMs;
  const content = makeAnswerBody(maxBodyBytes);
  let interim = 0;
  let stopCounting = () => {};
  let awaited: AwaitedStep = "a connection";
  let response: IncomingMessage | null = null;
  let settle: ((exchange: EndedExchange) => void) | null = null;

  const request = open((step) => (awaited = step));
  // Data that has already arrived is read first: after a pause of this machine, it may be the complete answer.
  const timer = setTimeout(() => setImmediate(onDeadline), deadlineMs);
  for (const signal of signals) signal.addEventListener("abort", onAbort);
  request.once("socket", watch);
  request.once("upgrade", onUpgrade);
  request.on("information", onInformation);
  request.once("response", onResponse);
  request.on("error", fail);
  request.end(body);
  return new Promise((resolve) => {
    settle = resolve;
    if (signals.some(({ aborted }) => aborted)) onAbort();
  });

  function watch(socket: Socket): void {
    // Delayed, so that the part of the body in these bytes is handled first.
    stopCounting = limitArrival(socket, { maxBytes: maxWireBytes }, () => process.nextTick(end, { kind: "oversize" }));
    if (!socket.connecting) return onConnection("an answer");
    socket.once("connect", () => onConnection(url.protocol === "https:" ? "TLS" : "an answer"));
    socket.once("secureConnect", () => onConnection("an answer"));
  }

  /** After a pause of this machine, the connection may be ready before the timer of the deadline fires. */
  function onConnection(step: AwaitedStep): void {
    awaited = step;
    const nowMs = performance.now();
    if (nowMs > leaveByMs) end({ kind: "unsent", lateMs: nowMs - leaveByMs });
    else if (nowMs > dueMs) onDeadline();
  }

  function onInformation(): void {
    interim += 1;
    if (interim > maxInterim) end({ kind: "oversize" });
  }

  /** After an upgrade the connection no longer belongs to the request. */
  function onUpgrade(answer: IncomingMessage, socket: Duplex): void {
    response = answer;
    socket.destroy();
    end({ kind: "upgraded" });
  }

  function onResponse(answer: IncomingMessage): void {
    response = answer;
    awaited = "the end of the answer";
    answer.on("error", fail);
    const stream = more.bodyOf ? more.bodyOf(answer) : answer;
    if (stream === null) {
      answer.resume();
      // Delayed, because a short answer is complete by then, and its connection can be reused.
      process.nextTick(end, { kind: "answered" });
      return;
    }
    stream.on("error", fail);
    stream.once("end", () => end({ kind: "answered" }));
    stream.on("data", (chunk: Buffer) => {
      if (!content.add(chunk)) end({ kind: "oversize" });
    });
  }

  function onDeadline(): void {
    end({ kind: "late", lateMs: performance.now() - dueMs });
  }

  function onAbort(): void {
    end({ kind: "closed" });
  }

  function fail(error: Error): void {
    end({ kind: "failed", error });
  }

  function end(end: ExchangeEnd): void {
    if (settle === null) return;
    const { statusCode: status = null, headers = {} } = response ?? {};
    settle({ end, awaited, reused: request.reusedSocket, status, headers, body: content.bytes() });
    settle = null;
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener("abort", onAbort);
    stopCounting();
    // Otherwise the exchange is complete on both sides, and the connection is kept for the next request.
    if (!response?.complete || !request.writableFinished) request.destroy();
  }
}

// Descriptions of network, TLS and HTTP errors by their codes.

/**
 * The codes of a network error. If no address of a host can be connected to, there may be one for each address.
 *
 * @throws the error itself if it is not a network error, but a bug of ours
 */
export function networkCodesOf(error: Error): string[] {
  const codes = [...new Set(codesOf(error))];
  if (codes.length === 0 || codes.some((code) => ownErrorCodes.test(code))) throw error;
  return codes;
}

function codesOf(error: unknown): string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(codesOf);
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? [code] : [];
}

/** Node's own errors, except those that the other side can cause. */
const ownErrorCodes = /^ERR_(?!SSL_|TLS_)/;

const codeWords: Record<string, string> = {
  ENOTFOUND: "no address of that name",
  ECONNREFUSED: "a refused connection",
  ECONNRESET: "a broken connection",
  EPIPE: "a broken connection",
  ETIMEDOUT: "a timeout",
  HPE_HEADER_OVERFLOW: "too many bytes of headers",
  CERT_HAS_EXPIRED: "an expired certificate",
  CERT_NOT_YET_VALID: "a certificate that is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "a self-signed certificate",
  SELF_SIGNED_CERT_IN_CHAIN: "a certificate from an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "a certificate from an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "a certificate from an unknown authority",
  ERR_TLS_CERT_ALTNAME_INVALID: "a certificate for another name",
};

/** Never contains the error's own message, which may contain anything. */
export function wordsForCodes(codes: string[]): string {
  return codes.map(wordsFor).join(" and ");
}

function wordsFor(code: string): string {
  const said =
    codeWords[code] ??
    (code.startsWith("HPE_") ? "invalid HTTP" : undefined) ??
    (/^(ERR_SSL_|EPROTO$)/.test(code) ? "invalid TLS" : undefined);
  return said === undefined ? code : `${said} (${code})`;
}

const decoders: Record<string, (() => Readable & NodeJS.WritableStream) | null> = {
  "": null,
  identity: null,
  gzip: createGunzip,
  "x-gzip": createGunzip,
  br: createBrotliDecompress,
};

/** Empty if the answer has no content-encoding. */
export function encodingOf(headers: IncomingHttpHeaders): string {
  return (headers["content-encoding"] ?? "").trim().toLowerCase();
}

export function isDecodable(encoding: string): boolean {
  return Object.hasOwn(decoders, encoding);
}

/**
 * The decoded body of an answer whose encoding is decodable. The stream reports errors of both streams, and ends both.
 */
export function decompressed(answer: IncomingMessage): Readable {
  const decode = decoders[encodingOf(answer.headers)];
  return decode ? pipeline(answer, decode(), () => {}) : answer;
}

export function isDecompressionError(error: Error): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return "errno" in error && /^(Z_|ERR_)/.test(code);
}
