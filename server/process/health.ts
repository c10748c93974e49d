/**
 * Liveness, readiness and metrics. `/healthz` answers as long as the program runs, and never queries the database;
 * `/readyz` shows whether the program can do its work, and if not, why; `/metrics` serves Prometheus.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Service, version } from "../../shared/config/package.js";
import { addressOf } from "../../shared/config/setting-values.js";
import type { Pool } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import type { OwnMetrics } from "../../shared/log/own-metrics.js";
import { singleFlight } from "../../shared/process/loop.js";
import { stackOf } from "../../shared/process/user-error.js";
import { replicaCheck, replicaState } from "../database/replica.js";
import { definitionsFault, schemaState } from "../database/schema-state.js";
import { listen } from "./ports.js";

/** The body of `/readyz`: 200 when `ready`, otherwise 503. */
export interface Readiness {
  ready: boolean;
  /** By the name of the check: `database`, `schema`, `engine`, … */
  checks: Record<string, { ok: boolean; detail: string }>;
}

export type ReadinessCheck = () => Promise<Readiness>;

export interface HealthOptions {
  service: Service;
  /** 0 takes a free one. */
  port: number;
  /** IP address to listen on. */
  host: string;
  ready: ReadinessCheck;
  metrics: OwnMetrics;
  log: Log;
}

/** If a check hangs, `/readyz` answers after this time that the program is not ready. */
const readyWithinMs = 5_000;

/** How long a client may take to send its request. */
const requestWithinMs = 5_000;
/** A connection that is idle for this long is closed. The usual interval of scrapers is shorter. */
const silentForMs = 65_000;
/**
 * More than enough for Prometheus, one or two load balancers, and operators. Others must not use up all connections.
 */
const mostConnections = 64;

/**
 * The small server for a program's operators, at `HEALTH_PORT`; nothing on it is for the public. Concurrent requests
 * share one check.
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
      void answerHealth(options, request, response);
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

/** The body of `/healthz`, as the API describes it. */
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

/** The check's result, or `ready: false` if it takes too long or throws, which is a bug and is logged. */
export async function readinessOf(check: ReadinessCheck, log: Log, withinMs = readyWithinMs): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Readiness>((resolve) => {
    const detail = `no answer within ${withinMs} ms`;
    timer = setTimeout(() => resolve(unreadyBecause(detail)), withinMs);
  });
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    log.error("readiness check failed", { stack: stackOf(error) });
    return unreadyBecause("the check itself failed; the log says why");
  } finally {
    clearTimeout(timer);
  }
}

function unreadyBecause(detail: string): Readiness {
  return { ready: false, checks: { readiness: { ok: false, detail } } };
}

interface Answering extends HealthOptions {
  exposition: () => Promise<string>;
}

async function answerHealth(
  { service, ready, metrics, exposition, log }: Answering,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url?.split("?")[0];
  if (path !== "/healthz" && path !== "/readyz" && path !== "/metrics")
    return refuseRequest(response, 404, "Not Found", "there are /healthz, /readyz and /metrics");
  if (request.method !== "GET" && request.method !== "HEAD")
    return refuseRequest(response, 405, "Method Not Allowed", "use GET");
  if (path === "/healthz") return sendBody(response, 200, healthBody(service));
  if (path === "/metrics") return sendMetrics(response, metrics.contentType, exposition, log);
  const readiness = await readinessOf(ready, log);
  sendBody(response, readiness.ready ? 200 : 503, readiness);
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
    refuseRequest(response, 500, "Internal Server Error", "the log says why");
  }
}

function refuseRequest(response: ServerResponse, status: number, title: string, detail: string): void {
  if (status === 405) response.setHeader("Allow", "GET, HEAD");
  const problem = { type: "about:blank", title, status, detail };
  sendBody(response, status, problem, "application/problem+json");
}

function sendBody(response: ServerResponse, status: number, body: unknown, type = "application/json"): void {
  response.writeHead(status, {
    "Content-Type": `${type}; charset=utf-8`,
    "Cache-Control": "no-store",
  });
  response.end(`${JSON.stringify(body)}\n`);
}

/**
 * Whether this program can do its work: the database is reachable, its schema is that of this build, and the engine
 * decides.
 *
 * @param ofReplica whether the database is meant to be a replica; if so, its lag is checked, too
 */
export async function readiness(pool: Pool, ofReplica = false): Promise<Readiness> {
  const checks: Readiness["checks"] = {
    database: { ok: false, detail: "not reached" },
    schema: { ok: false, detail: "unknown while the database is unreachable" },
    engine: { ok: false, detail: "unknown while the database is unreachable" },
    ...(ofReplica && {
      replica: { ok: false, detail: "unknown while the database is unreachable" },
    }),
  };
  try {
    checks.schema = await schemaCheck(pool);
    checks.database = { ok: true, detail: "reachable" };
    checks.engine = checks.schema.ok
      ? await engineCheck(pool)
      : { ok: false, detail: "unknown until the schema is current" };
    if (ofReplica)
      checks.replica = checks.schema.ok
        ? replicaCheck(await replicaState(pool))
        : { ok: false, detail: "unknown until the schema is current" };
  } catch (error) {
    // the message could name hosts and users: this page is public
    const { code } = error as NodeJS.ErrnoException;
    checks.database = {
      ok: false,
      detail: `did not answer${code ? ` (${code})` : ""}`,
    };
  }
  return { ready: Object.values(checks).every(({ ok }) => ok), checks };
}

async function schemaCheck(pool: Pool) {
  const { missing, unknown } = await schemaState(pool);
  if (missing.length > 0)
    return {
      ok: false,
      detail: `lacks ${missing.join(", ")}: run venuewatch migrate`,
    };
  if (unknown.length > 0)
    return {
      ok: false,
      detail: `is newer than this build: it has ${unknown.join(", ")}`,
    };
  const fault = await definitionsFault(pool);
  if (fault !== null)
    return {
      ok: false,
      detail: `${fault}; run venuewatch migrate of the build whose programs are to run`,
    };
  return { ok: true, detail: "current" };
}

interface EngineClock {
  ticked_at: Date | null;
  fresh: boolean;
  ahead: boolean;
}

async function engineCheck(pool: Pool) {
  const [clock] = await pool.file<EngineClock>("readiness");
  const ticked = clock?.ticked_at?.toISOString();
  if (!clock || !ticked) return { ok: false, detail: "has never ticked" };
  if (clock.fresh) return { ok: true, detail: `last tick ${ticked}` };
  const detail = clock.ahead
    ? `its last tick ${ticked} is ahead of the database's clock, so it decides nothing before then: every state reads unknown`
    : `silent since ${ticked}: every state reads unknown`;
  return { ok: false, detail };
}
