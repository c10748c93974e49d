import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Request, Response } from "express";
import { listen } from "../../shared/config/listen.js";
import { addressOf } from "../../shared/config/address.js";
import { stackOf } from "../../shared/process/user-error.js";
import { onRequestEnd } from "./request-log.js";
import { makeApp, makeShared } from "./app.js";
import { type AppOptions } from "./app-options.js";
import { problemBody } from "./problem.js";
import { publicHeaders } from "./public-headers.js";
import { clientAddress } from "./client-address.js";
import { makeShortcut } from "./shortcut.js";

export interface Web {
  url: string;
  port: number;
  /** Idle connections are closed at once; answers under way may take two seconds more. */
  close: () => Promise<void>;
}

/** A client may take this long to send its request. */
const requestWithinMs = 10_000;
/** A connection on which nothing moves for this long is given up: its client is gone, or does not read. */
const silentForMs = 30_000;
const closeWithinMs = 2_000;

/**
 * Serves the public API.
 *
 * @param options `port` 0 takes a free one; `host` is an IP address
 */
export async function startWeb(options: AppOptions & { port: number; host: string }): Promise<Web> {
  const { onAnswered, registry } = options;
  const shared = makeShared(options);
  const app = makeApp(options, shared);
  // Express' own reading of a request, which goes by the proxies that the app trusts
  const ipOf = (request: IncomingMessage) => {
    const ip: unknown = Reflect.get(app.request, "ip", Object.assign(request, { app }));
    return typeof ip === "string" ? ip : undefined;
  };
  const clientOf = (request: IncomingMessage) => clientAddress(request, () => ipOf(request));
  const { boards, limit, failures } = shared;
  const shortcut = makeShortcut(registry, boards, limit, clientOf, failures);
  const answers = new WeakMap<Duplex, ServerResponse>();
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    answers.set(request.socket, response);
    if (onAnswered) onRequestEnd(request, response, onAnswered);
    const answering = shortcut(request, response);
    if (!answering) return answerByApp(request, response);
    answering
      .then((answered) => answered || answerByApp(request, response))
      .catch((error: unknown) => failed(error, response));
  };
  const failed = (error: unknown, response: ServerResponse) => {
    options.log.error("answering failed", { stack: stackOf(error) });
    response.destroy();
  };
  const answerByApp = (request: IncomingMessage, response: ServerResponse) =>
    app(request as Request, response as Response, (error?: unknown) => {
      if (error === undefined) return refusePathless(response);
      failed(error, response);
    });
  /** What was asked before on a connection, and is not answered yet: Node does not let answers of ours wait for it. */
  const owedBefore = (socket: Duplex) => {
    const last = answers.get(socket);
    return last && !last.writableFinished ? last : null;
  };
  const server = createServer(
    {
      // ours to refuse: Node would do so without a body
      requireHostHeader: false,
      requestTimeout: requestWithinMs,
      headersTimeout: requestWithinMs,
      keepAliveTimeout: silentForMs,
    },
    answer,
  );
  server.setTimeout(silentForMs);
  server.on("clientError", (error: NodeJS.ErrnoException, socket) =>
    refuseUnreadable(error, socket, owedBefore(socket)),
  );
  server.on("checkExpectation", answer);
  server.on("connect", (_request, socket) => {
    const owed = owedBefore(socket);
    if (owed) owed.once("close", () => refuseTunnel(socket));
    else refuseTunnel(socket);
  });
  const port = await listen(server, options.port, options.host, "PORT");
  return {
    url: addressOf(options.host, port),
    port,
    close: () =>
      new Promise<void>((resolve) => {
        const impatient = setTimeout(() => server.closeAllConnections(), closeWithinMs);
        server.close(() => {
          clearTimeout(impatient);
          resolve();
        });
      }),
  };
}

/** `GET http://?x` has no path at all, and Express, which goes by paths, has nobody to give it to. */
function refusePathless(response: ServerResponse): void {
  const status = 404;
  response.writeHead(status, {
    ...publicHeaders,
    "Cache-Control": "no-store",
    "Content-Type": "application/problem+json; charset=utf-8",
  });
  response.end(problemBody(status, "There is no path in the address."));
}

/**
 * What is no HTTP, too long, or too slow never becomes a request; who sent it is told why, as everybody else is. Not
 * where it followed upon a request that is still being answered: what we say would be taken for its answer.
 */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex, owed: ServerResponse | null): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  if (owed) {
    owed.once("close", () => socket.end());
    return;
  }
  const [status, detail] = refusals[error.code ?? ""] ?? [400, "This is not a request in HTTP/1.1."];
  sayRefused(socket, status, detail);
}

function refuseTunnel(socket: Duplex): void {
  sayRefused(socket, 405, "This is no proxy: use GET.", "Allow: GET, HEAD, OPTIONS\r\n");
}

/** Without Express, which has not been asked. */
function sayRefused(socket: Duplex, status: number, detail: string, more = "") {
  const body = problemBody(status, detail);
  const always = Object.entries(publicHeaders)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      "Connection: close\r\n" +
      always +
      more +
      "Cache-Control: no-store\r\n" +
      "Content-Type: application/problem+json; charset=utf-8\r\n" +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

const refusals: Record<string, [status: number, detail: string]> = {
  HPE_HEADER_OVERFLOW: [431, "Path and headers together may have 16 KiB."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, `The request did not come within ${requestWithinMs / 1000} seconds.`],
};
