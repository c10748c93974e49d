/** One HTTP request and its answer, bounded in time and bytes, until it ends in one way or another. */

import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex, Readable } from "node:stream";

export interface BoundedRequest {
  method: "GET" | "POST";
  url: URL;
  headers: Record<string, string>;
  body?: Buffer;
  /** For everything, from resolving the host's name to the end of the answer. */
  deadlineMs: number;
  /** By the monotonic clock. Nothing is sent if there is a connection only later. */
  leaveByMs?: number;
  /**
   * Of everything that arrives on the connection: a body, and what the parser has no bound for (interim answers, line
   * ends before the first, blanks before a header's value, zeros before a chunk's length), which would keep core's one
   * thread busy until the deadline.
   */
  maxWireBytes: number;
  /** Of the body as `bodyOf` gives it. */
  maxBodyBytes?: number;
  /** What to read the body from, instead of the answer itself; null: the exchange ends without it. */
  bodyOf?: (answer: IncomingMessage) => Readable | null;
  /** Ends the exchange as `closed`. */
  signal?: AbortSignal;
}

/** In this order; a kept connection starts with the answer. */
export type AwaitedStep = "an address" | "a connection" | "TLS" | "an answer" | "the end of the answer";

/**
 * `answered`: with all that was wanted of it. `held`: `lateMs` after `leaveByMs`. `late`: so long after the deadline.
 */
export type ExchangeEnd =
  | { kind: "answered" | "oversize" | "upgraded" | "closed" }
  | { kind: "held" | "late"; lateMs: number }
  | { kind: "failed"; error: Error };

export interface EndedExchange {
  end: ExchangeEnd;
  /** Where it ended. */
  awaited: AwaitedStep;
  /** The connection was kept from an earlier request. */
  reused: boolean;
  /** Null where no answer came. */
  status: number | null;
  headers: IncomingHttpHeaders;
  /** As much of the body as was read. */
  chunks: Buffer[];
}

/** @param open reports the steps before the request has a socket to watch */
export function runExchange(
  { url, body, deadlineMs, leaveByMs = Infinity, maxWireBytes, maxBodyBytes = Infinity, ...more }: BoundedRequest,
  signals: AbortSignal[],
  open: (onStep: (step: AwaitedStep) => void) => ClientRequest,
): Promise<EndedExchange> {
  const dueMs = performance.now() + deadlineMs;
  const chunks: Buffer[] = [];
  let wireBytes = 0;
  let bodyBytes = 0;
  let awaited: AwaitedStep = "a connection";
  let response: IncomingMessage | null = null;
  let connection: Socket | null = null;
  let settle: ((exchange: EndedExchange) => void) | null = null;

  const request = open((step) => (awaited = step));
  // What has already arrived is read first: after this machine stood still, that may be all of the answer.
  const timer = setTimeout(() => setImmediate(onDeadline), deadlineMs);
  for (const signal of signals) signal.addEventListener("abort", onAbort);
  request.once("socket", watch);
  request.once("upgrade", onUpgrade);
  request.once("response", onResponse);
  request.on("error", fail);
  request.end(body);
  return new Promise((resolve) => {
    settle = resolve;
    if (signals.some(({ aborted }) => aborted)) onAbort();
  });

  function watch(socket: Socket): void {
    connection = socket.on("data", onWireBytes);
    if (!socket.connecting) return onConnection("an answer");
    socket.once("connect", () => onConnection(url.protocol === "https:" ? "TLS" : "an answer"));
    socket.once("secureConnect", () => onConnection("an answer"));
  }

  /** After this machine paused, it may be there before the deadline is noticed. */
  function onConnection(step: AwaitedStep): void {
    awaited = step;
    const nowMs = performance.now();
    if (nowMs > leaveByMs) end({ kind: "held", lateMs: nowMs - leaveByMs });
    else if (nowMs > dueMs) onDeadline();
  }

  function onWireBytes(chunk: Buffer): void {
    wireBytes += chunk.length;
    // The body in them reaches us first.
    if (wireBytes > maxWireBytes) process.nextTick(end, { kind: "oversize" });
  }

  /** The connection is no longer the request's. */
  function onUpgrade(answer: IncomingMessage, socket: Duplex): void {
    response = answer;
    socket.destroy();
    end({ kind: "upgraded" });
  }

  function onResponse(answer: IncomingMessage): void {
    response = answer;
    awaited = "the end of the answer";
    answer.on("error", fail);
    const content = more.bodyOf ? more.bodyOf(answer) : answer;
    if (content === null) {
      answer.resume();
      // By then a short answer is complete, and its connection can be kept.
      process.nextTick(end, { kind: "answered" });
      return;
    }
    content.on("error", fail);
    content.once("end", () => end({ kind: "answered" }));
    content.on("data", onBodyBytes);
  }

  function onBodyBytes(chunk: Buffer): void {
    bodyBytes += chunk.length;
    if (bodyBytes > maxBodyBytes) end({ kind: "oversize" });
    else chunks.push(chunk);
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
    settle({ end, awaited, reused: request.reusedSocket, status, headers, chunks });
    settle = null;
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener("abort", onAbort);
    connection?.off("data", onWireBytes);
    // The connection is kept for the next request if it is free for one.
    if (!response?.complete || !request.writableFinished) request.destroy();
  }
}
