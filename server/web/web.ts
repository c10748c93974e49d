import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Request, Response } from "express";
import { Histogram } from "prom-client";
import { addressOf } from "../../shared/config/setting-values.js";
import { addGauge, type OwnMetrics } from "../../shared/log/own-metrics.js";
import { stackOf } from "../../shared/process/user-error.js";
import type { ReplicaState } from "../database/replica.js";
import { listen } from "../process/ports.js";
import { publicHeaders } from "./api/answer.js";
import { connectionLimits, limitConnections, resetConnection, watchResponses } from "./api/client-limits.js";
import { problemBody } from "./api/problem.js";
import { type AnsweredRequest, onRequestEnd, clientAddress } from "./api/request.js";
import { type AppOptions, makeApp, makeShared } from "./app.js";
import { makeShortcut } from "./shortcut.js";

export interface Web {
  url: string;
  port: number;
  /** Closes idle connections at once and gives open responses two more seconds. */
  close: () => Promise<void>;
}

/** Time limit for a client to send its request. */
const requestWithinMs = 10_000;
const closeWithinMs = 2_000;

/**
 * Serves the public API.
 *
 * @param options `port` 0 selects a free port; `host` is an IP address
 */
export async function startWeb(options: AppOptions & { port: number; host: string }): Promise<Web> {
  const { onAnswered, registry } = options;
  const shared = makeShared(options);
  const app = makeApp(options, shared);
  // Express' getter for the client address, which respects the trusted proxies
  const ipOf = (request: IncomingMessage) => {
    const ip: unknown = Reflect.get(app.request, "ip", Object.assign(request, { app }));
    return typeof ip === "string" ? ip : undefined;
  };
  const clientOf = (request: IncomingMessage) => clientAddress(request, () => ipOf(request));
  const { boards, limit, failures } = shared;
  const shortcut = makeShortcut(registry, boards, limit, clientOf, failures);
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    responses.began(request, response);
    if (onAnswered) onRequestEnd(request, response, onAnswered);
    const answering = shortcut(request, response);
    if (!answering) return answerByApp(request, response);
    answering
      .then((answered) => answered || answerByApp(request, response))
      .catch((error: unknown) => failed(error, response));
  };
  const failed = (error: unknown, response: ServerResponse) => {
    options.log.error("sending a response failed", { stack: stackOf(error) });
    response.destroy();
  };
  const answerByApp = (request: IncomingMessage, response: ServerResponse) =>
    app(request as Request, response as Response, (error?: unknown) => {
      if (error === undefined) return refusePathless(response);
      failed(error, response);
    });
  const limits = options.connectionLimits ?? connectionLimits;
  const server = createServer(
    {
      // we refuse it ourselves: Node's refusal has no body
      requireHostHeader: false,
      requestTimeout: requestWithinMs,
      headersTimeout: requestWithinMs,
      keepAliveTimeout: limits.silentForMs,
    },
    answer,
  );
  // The limit of 16 KiB suffices. With a maximum count, Node would drop further headers, and our checks would miss
  // them.
  server.maxHeadersCount = 0;
  const isProxy = app.get("trust proxy fn") as (address: string, hop: number) => boolean;
  limitConnections(server, limits, (address) => isProxy(address, 0));
  const responses = watchResponses(server, limits);
  server.on("clientError", (error: NodeJS.ErrnoException, socket) =>
    // Node does not queue raw writes behind an unfinished response
    refuseUnreadable(error, socket, responses.unfinishedOn(socket)),
  );
  server.on("checkExpectation", answer);
  server.on("connect", (_request, socket) => {
    const unfinished = responses.unfinishedOn(socket);
    if (unfinished) unfinished.once("close", () => refuseTunnel(socket));
    else refuseTunnel(socket);
  });
  const port = await listen(server, options.port, options.host, "PORT");
  return {
    url: addressOf(options.host, port),
    port,
    close: () =>
      new Promise<void>((resolve) => {
        shared.events.close();
        const deadline = setTimeout(() => server.closeAllConnections(), closeWithinMs);
        server.close(() => {
          clearTimeout(deadline);
          resolve();
        });
      }),
  };
}

/** `GET http://?x` has no path, so Express, which routes by path, matches nothing. */
function refusePathless(response: ServerResponse): void {
  const status = 404;
  response.writeHead(status, {
    ...publicHeaders,
    "Cache-Control": "no-store",
    "Content-Type": "application/problem+json; charset=utf-8",
  });
  response.end(JSON.stringify(problemBody(status, "The request target has no path.")));
}

/**
 * Input that is not HTTP, too long or too slow never becomes a request; its sender gets a problem response as well. Not
 * while an earlier request on the connection is unanswered: the client would take this for its response.
 */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex, unfinished: ServerResponse | null): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    resetConnection(socket);
    return;
  }
  const [status, detail] = parserRefusals[error.code ?? ""] ?? [400, "Expected an HTTP/1.1 request."];
  if (unfinished && isWaitingForBody(unfinished)) return refuseBody(unfinished, status, detail);
  if (unfinished) {
    unfinished.once("close", () => socket.end());
    return;
  }
  writeRefusal(socket, status, detail);
}

/** The unanswered request is itself the unreadable one: only `/mcp` accepts POST, and waits for a body. */
function isWaitingForBody({ req, headersSent }: ServerResponse): boolean {
  return req.method === "POST" && !req.complete && !headersSent;
}

function refuseBody(response: ServerResponse, status: number, detail: string): void {
  response.writeHead(status, {
    ...{ ...publicHeaders, "Cache-Control": "no-store", Connection: "close" },
    "Content-Type": "application/problem+json; charset=utf-8",
  });
  response.end(JSON.stringify(problemBody(status, detail)));
}

function refuseTunnel(socket: Duplex): void {
  writeRefusal(socket, 405, "CONNECT is not supported: use GET.", "Allow: GET, HEAD, OPTIONS\r\n");
}

/** Writes to the socket, since Express has not seen the request. */
function writeRefusal(socket: Duplex, status: number, detail: string, more = "") {
  const body = JSON.stringify(problemBody(status, detail));
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

const parserRefusals: Record<string, [status: number, detail: string]> = {
  HPE_HEADER_OVERFLOW: [431, "The request target and headers together must not exceed 16 KiB."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, `The complete request did not arrive within ${requestWithinMs / 1000} seconds.`],
};

/** Metrics of a web program's response times. */
export function makeWebMetrics(registry: OwnMetrics): (answered: AnsweredRequest) => void {
  const requests = new Histogram({
    name: "venuewatch_web_request_seconds",
    help: "Duration of a request, from its headers to the end of the response, by route and status.",
    labelNames: ["route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  // cached: checking the labels takes longer than counting, and there are only a few dozen
  const checked = new Map<string, { observe(seconds: number): void }>();
  return ({ route, status, tookMs }) => {
    const name = `${route} ${status}`;
    let labelled = checked.get(name);
    if (!labelled) checked.set(name, (labelled = requests.labels(route, status)));
    labelled.observe(tookMs / 1000);
  };
}

/**
 * Metrics of the lag of the replica that a web program reads from; nothing for a primary.
 *
 * @param state queried at every scrape; null while the database does not respond
 */
export function makeReplicaMetrics(registry: OwnMetrics, state: () => Promise<ReplicaState | null>): void {
  for (const [name, help, value] of replicaGauges)
    addGauge(registry, `venuewatch_replica_${name}`, help, async () => {
      const row = await state();
      return row?.is_replica ? value(row) : null;
    });
}

const replicaGauges: [name: string, help: string, value: (of: ReplicaState) => number | boolean | null][] = [
  [
    "lag_seconds",
    "Upper bound of the replica's lag: seconds since the newest transaction it replayed, or since its primary last confirmed that there is no newer one.",
    (of) => of.behind_seconds,
  ],
  [
    "lag_bytes",
    "Bytes of WAL that the primary has, as far as the replica knows, and the replica has not replayed.",
    (of) => of.behind_bytes,
  ],
  ["receiving", "1 while the replica receives WAL from the primary, else 0.", (of) => of.receiving],
];
