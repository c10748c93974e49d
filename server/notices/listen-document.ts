/** Receives one document that a server pushes over a WebSocket: limited in time and size. Nothing stays connected. */

import type { ClientRequest } from "node:http";
import { WebSocket } from "ws";
import {
  limitArrival,
  maxChunks,
  maxHandshakeBytes,
  socketLimits,
  wireBytesFor,
} from "../../shared/untrusted/limits.js";
import { deadlineIn } from "./deadline.js";
import type { PushedDocument } from "./feed-format.js";
import {
  failed,
  problemOf,
  refusal,
  unanswered,
  type DocumentFetcherOptions,
  type FetchedDocument,
} from "./fetch-document.js";

export interface ListeningOptions extends Pick<DocumentFetcherOptions, "userAgent" | "deadlineMs"> {
  at: Date;
  signal: AbortSignal;
  /** How long after its newest frame a server counts as silent. */
  quietMs?: number;
}

/** An announcement is a text of some kilobytes. */
const maxBytes = 1024 * 1024;
const maxFrames = 100;

const limits = { maxPayload: maxBytes, closeTimeout: 1000, ...socketLimits };

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
  const ws = new WebSocket(url, { headers, rejectUnauthorized: true, ...limits, finishRequest: limited });
  const deadline = deadlineIn(deadlineMs, signal);
  let quietTimer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<FetchedDocument>((resolve, reject) => {
      const frames = collectFrames(pushed, resolve);
      const late = unanswered(`expected an answer within ${deadlineMs / 1000} s`);
      deadline.signal.addEventListener("abort", () =>
        deadline.isPast() ? resolve(late) : reject(signal.reason as Error),
      );
      ws.on("open", () => ws.send(pushed.request(at)));
      ws.on("flood", () => resolve(failed(floodProblem)));
      ws.on("message", (data: Buffer) => {
        clearTimeout(quietTimer);
        if (!frames.add(data.toString())) quietTimer = setTimeout(frames.end, quietMs);
      });
      ws.on("unexpected-response", (_request, { statusCode = 0, headers }) =>
        resolve(refusal(statusCode, headers["retry-after"])),
      );
      ws.on("error", (error) => resolve(brokenBy(error)));
      ws.on("close", () => resolve(unanswered("expected an answer, got a closed connection")));
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
      resolve(failed(`expected at most ${maxFrames} frames of ${maxBytes} bytes together, got more`));
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
    });
  }
}

const floodProblem = `expected at most ${wireBytesFor(maxBytes)} bytes in at most ${maxChunks} chunks, got more`;

/** Also counts what emits no event: interim answers, pings, and fragments. */
function limited(request: ClientRequest, ws: WebSocket): void {
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
  if (code === undefined) return failed("expected a WebSocket, got another answer");
  if (code.startsWith("WS_ERR_")) return failed(`expected frames of at most ${maxBytes} bytes, got ${code}`);
  return unanswered(problemOf(error));
}
