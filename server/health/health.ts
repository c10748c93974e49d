/**
 * Liveness, readiness, and how it goes. `/healthz` says that the program runs
 * and never asks the database; `/readyz` says whether it can do its work, and
 * if not, why; `/metrics` tells Prometheus how it does it.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

import { listen } from "../../shared/config/listen.js";
import { addressOf } from "../../shared/config/address.js";
import type { Log } from "../../shared/log/log.js";
import type { OwnMetrics } from "../../shared/log/own-metrics.js";
import { version } from "../../shared/config/package.js";
import type { Service } from "../../shared/config/service.js";
import { singleFlight } from "../../shared/process/single-flight.js";
import { stackOf } from "../../shared/process/user-error.js";

/** The body of `/readyz`: 200 when `ready`, otherwise 503. */
export interface Readiness {
  ready: boolean;
  /** By what is checked: `database`, `schema`, `engine`, … */
  checks: Record<string, { ok: boolean; detail: string }>;
}

export type ReadinessCheck = () => Promise<Readiness>;

export interface HealthOptions {
  service: Service;
  /** 0: any free one. */
  port: number;
  /** IP address to listen on. */
  host: string;
  ready: ReadinessCheck;
  metrics: OwnMetrics;
  log: Log;
}

/** A check that hangs is an answer too, and whoever asks does not wait for long. */
const readyWithinMs = 5_000;

/** A client may take this long to send its request. */
const requestWithinMs = 5_000;
/** A connection on which nothing moves for this long is closed. A scraper's usual interval is shorter. */
const silentForMs = 65_000;
/** Prometheus, a balancer or two, and operators: beyond this somebody else is collecting connections. */
const mostConnections = 64;

/**
 * The small server for a program's operators, at `HEALTH_PORT`; nothing of it is for the public. However many ask at
 * once, one check is made for them.
 */
export async function startHealth(given: HealthOptions) {
  const options: Answering = {
    ...given,
    ready: singleFlight(given.ready),
    exposition: singleFlight(() => given.metrics.metrics()),
  };
  const server = createServer(
    {
      requestTimeout: requestWithinMs,
      headersTimeout: requestWithinMs,
      // how often these two are enforced
      connectionsCheckingInterval: requestWithinMs,
      keepAliveTimeout: silentForMs,
    },
    (request, response) => {
      void answer(options, request, response);
    },
  );
  server.setTimeout(silentForMs);
  server.maxConnections = mostConnections;
  const port = await listen(server, options.port, options.host, "HEALTH_PORT");
  return {
    port,
    url: addressOf(options.host, port),
    close: (): Promise<void> => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

/** The body of `/healthz`, of the shape that the API describes. */
export function healthBody(service: Service) {
  const time = new Date().toISOString();
  return {
    status: "ok" as const,
    service,
    version,
    uptimeSeconds: Math.floor(process.uptime()),
    time,
    generatedAt: time,
  };
}

/** The check's answer, or `ready: false` where it throws (a bug, logged) or takes too long. */
export async function readinessOf(check: ReadinessCheck, log: Log, withinMs = readyWithinMs): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Readiness>((resolve) => {
    const detail = `no answer within ${withinMs} ms`;
    timer = setTimeout(() => resolve(unready(detail)), withinMs);
  });
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    log.error("readiness check failed", { stack: stackOf(error) });
    return unready("the check itself failed; the log says why");
  } finally {
    clearTimeout(timer);
  }
}

function unready(detail: string): Readiness {
  return { ready: false, checks: { readiness: { ok: false, detail } } };
}

interface Answering extends HealthOptions {
  exposition: () => Promise<string>;
}

async function answer(
  { service, ready, metrics, exposition, log }: Answering,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url?.split("?")[0];
  if (path !== "/healthz" && path !== "/readyz" && path !== "/metrics")
    return refuse(response, 404, "Not Found", "there are /healthz, /readyz and /metrics");
  if (request.method !== "GET" && request.method !== "HEAD")
    return refuse(response, 405, "Method Not Allowed", "use GET");
  if (path === "/healthz") return send(response, 200, healthBody(service));
  if (path === "/metrics") return sendMetrics(response, metrics.contentType, exposition, log);
  const readiness = await readinessOf(ready, log);
  send(response, readiness.ready ? 200 : 503, readiness);
}

async function sendMetrics(
  response: ServerResponse,
  type: string,
  exposition: () => Promise<string>,
  log: Log,
): Promise<void> {
  try {
    const text = await exposition();
    response.writeHead(200, {
      "Content-Type": type,
      "Cache-Control": "no-store",
    });
    response.end(text);
  } catch (error) {
    log.error("own metrics failed", { stack: stackOf(error) });
    refuse(response, 500, "Internal Server Error", "the log says why");
  }
}

function refuse(response: ServerResponse, status: number, title: string, detail: string): void {
  if (status === 405) response.setHeader("Allow", "GET, HEAD");
  const problem = { type: "about:blank", title, status, detail };
  send(response, status, problem, "application/problem+json");
}

function send(response: ServerResponse, status: number, body: unknown, type = "application/json"): void {
  response.writeHead(status, {
    "Content-Type": `${type}; charset=utf-8`,
    "Cache-Control": "no-store",
  });
  response.end(`${JSON.stringify(body)}\n`);
}
