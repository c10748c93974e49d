/** One request and its answer, until it ends in one way or another. */

import { type Ending } from "./outcome.js";
import type { ClientRequest, IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { retryAfterMs } from "../../../shared/measurement/retry-after.js";
import { beginningOf } from "./answer-text.js";
import { type Awaited, certainlyOurs, endingByFault, endingByTime } from "./classify-error.js";
import type { WebhookRequest } from "../formats/webhook-request.js";
import { hostOf } from "../channels/safe-url.js";

export interface PostExchange {
  /** Rejects for bugs of ours alone. */
  ending: Promise<Ending>;
  /** Ends it so, wherever it is. */
  cut(ending: Ending): void;
}

/**
 * Of all that comes on the connection: a body, and what the parser has no bound for (interim answers, line ends before
 * the first, blanks before a header's value, zeros before a chunk's length), which would keep core's one thread busy
 * until the deadline.
 */
const mostBytes = 64 * 1024;

/** @param open makes the request, and says when it has an address to connect to */
export function startExchange(
  letter: WebhookRequest,
  open: (letter: WebhookRequest, onAddress: () => void) => ClientRequest,
  { deadlineMs, leaveByMs }: { deadlineMs: number; leaveByMs: number },
): PostExchange {
  const host = hostOf(letter.url);
  const dueMs = performance.now() + deadlineMs;
  const body: Buffer[] = [];
  let bytes = 0;
  let awaited: Awaited = isIP(host) ? "a connection" : "an address";
  let response: IncomingMessage | null = null;
  let connection: Socket | null = null;
  let settle!: (ending: Ending) => void;
  let throwBug!: (error: unknown) => void;

  const ending = new Promise<Ending>((resolve, reject) => {
    settle = resolve;
    throwBug = reject;
  }).finally(() => clearTimeout(timer));

  const request = open(letter, () => (awaited = "a connection"));
  // What is there already is read first: after this machine stood still, that may be all of the answer.
  const timer = setTimeout(() => setImmediate(onDeadline), deadlineMs);

  request.once("socket", watch);
  request.once("upgrade", onUpgrade);
  request.once("response", onResponse);
  request.on("error", fail);
  request.end(letter.body);
  return { ending, cut: end };

  function watch(socket: Socket): void {
    connection = socket.on("data", onBytes);
    if (!socket.connecting) {
      awaited = "an answer";
      endIfPast();
      return;
    }
    const isSecure = letter.url.protocol === "https:";
    socket.once("connect", () => {
      awaited = isSecure ? "TLS" : "an answer";
      endIfPast();
    });
    socket.once("secureConnect", () => {
      awaited = "an answer";
      endIfPast();
    });
  }

  /**
   * After a pause of this machine a connection may be there before the deadline is seen: what left then might come
   * after what is newer.
   */
  function endIfPast(): void {
    const nowMs = performance.now();
    if (nowMs > leaveByMs)
      end({
        ...certainlyOurs,
        // were it only slow, it would be claimed and let go without a pause
        retryAfterMs: 1_000,
        error: `expected to leave ${Math.ceil(nowMs - leaveByMs)} ms earlier: another may have sent it since, and what comes after it`,
      });
    else if (nowMs > dueMs) onDeadline();
  }

  function onBytes(chunk: Buffer): void {
    bytes += chunk.length;
    // What is body in them is given to us first.
    if (bytes > mostBytes) process.nextTick(onTooMuch);
  }

  function onTooMuch(): void {
    const none: Ending = {
      result: "unreachable",
      error: `expected an answer of ${host}, got more than ${mostBytes / 1024} KiB without one`,
    };
    end(response ? endingByStatus(response) : none);
  }

  /** The connection is no longer the request's. */
  function onUpgrade(answer: IncomingMessage, socket: Duplex): void {
    socket.destroy();
    end({
      result: "unreachable",
      error: `expected an answer of ${host}, got a change of protocol`,
      status: answer.statusCode ?? null,
    });
  }

  function onResponse(answer: IncomingMessage): void {
    response = answer;
    awaited = "the end of the answer";
    answer.on("error", fail);
    answer.once("end", () => end(endingByStatus(answer)));
    answer.on("data", (chunk: Buffer) => body.push(chunk));
  }

  function endingByStatus({ statusCode = 0, headers }: IncomingMessage): Ending {
    if (statusCode >= 200 && statusCode < 300) return { result: "delivered" };
    const moved = statusCode >= 300 && statusCode < 400;
    return {
      result: "refused",
      error: `expected a status of 2xx from ${host}, got ${statusCode}${moved ? "; redirects are not followed" : ""}`,
      retryAfterMs: retryAfterMs(headers["retry-after"], Date.now()) || null,
    };
  }

  function onDeadline(): void {
    const lateMs = performance.now() - dueMs;
    end(endingByTime(awaited, host, deadlineMs, lateMs));
  }

  function fail(error: Error): void {
    try {
      end(endingByFault(error, awaited, host, request.reusedSocket));
    } catch (bug) {
      throwBug(bug);
      request.destroy();
    }
  }

  function end(ending: Ending): void {
    settle({
      status: response?.statusCode ?? null,
      answer: beginningOf(Buffer.concat(body), letter),
      ...ending,
    });
    connection?.off("data", onBytes);
    // The connection is kept for the next letter if it is free for one.
    if (!response?.complete || !request.writableFinished) request.destroy();
  }
}
