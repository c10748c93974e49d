import type { IncomingMessage } from "node:http";
import express, { type Express, type RequestHandler, type Response } from "express";
import { mebibyte } from "../../shared/config/byte-units.js";
import type { Pool } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { makeOutage } from "../../shared/log/outage.js";
import { healthBody, readiness, readinessOf } from "../process/health.js";
import { boardSource } from "./agents/agent-source.js";
import { llmsTextRoute } from "./agents/llms-text.js";
import { addMcpRoute, agentServers } from "./agents/mcp-route.js";
import { publicHeaders } from "./api/answer.js";
import { byteLimiter, type ConnectionLimits, requestLimiter, makeLimit, type RateLimit } from "./api/client-limits.js";
import { answerErrors, makeFaults, notFound, Problem, problemSender } from "./api/problem.js";
import { queuedPool } from "./api/query-queue.js";
import { type AnsweredRequest, headFault } from "./api/request.js";
import type { TypeOf } from "./api/shapes.js";
import type { Site } from "./api/site.js";
import { embedRoutes } from "./badges/badges.js";
import { detectionRoute } from "./board/detection.js";
import { incidentSamplesRoute } from "./board/incident-samples.js";
import { incidentRoute } from "./board/incident.js";
import { incidentsRoute } from "./board/incidents.js";
import { maintenanceRoute } from "./board/maintenance.js";
import { notifyRoute } from "./board/notify.js";
import { regionsRoute } from "./board/regions.js";
import { reliabilityRoute } from "./board/reliability.js";
import { type healthResponse, metricsRoute } from "./board/service.js";
import {
  type Aged,
  type Boards,
  type DatabaseClock,
  makeBoards,
  makeClock,
  makeSnapshots,
  makeWindows,
  type WhileBusy,
} from "./board/snapshot.js";
import { makeAged, makeFreshness, staleAfterMs } from "./board/stale.js";
import { statusRoute } from "./board/status.js";
import { tableAnswerer, tableFormats } from "./board/tables.js";
import { thresholdsRoute } from "./board/thresholds.js";
import { transfersRoute, venueTransfersRoute } from "./board/transfers.js";
import { venueStateRoute } from "./board/venue-state.js";
import { venueDaysRoute, venueRoute } from "./board/venue.js";
import { makeChangeLog } from "./events/change-log.js";
import {
  eventsRoute,
  type EventStreams,
  makeEventStreams,
  streamLimits,
  type StreamLimits,
} from "./events/event-streams.js";
import { feedRoutes } from "./feeds/feeds.js";
import { openapiDocument, openapiRoute } from "./openapi.js";
import { operations } from "./operations.js";
import { assetRoute } from "./pages/assets.js";
import { errorPages } from "./pages/error.js";
import { shellOf } from "./pages/page.js";
import { pagesRouter } from "./pages/pages.js";
import { statuspageRedirects, statuspageRoutes } from "./statuspage/statuspage.js";

/** The public API. It is read-only, keeps no state except bodies of the newest tick, and does not listen itself. */
export function makeApp(
  options: AppOptions,
  { clock, boards, whileBusy, aged, limit, events, failures }: Shared = makeShared(options),
): Express {
  const { registry, log } = options;
  const pool = queuedPool(options.pool, ofWholeWindows);
  // separate caches: clients can request many pages and windows, and these must not evict a venue's body
  const incidents = makeSnapshots(pool, hundredBodies, clock, whileBusy, aged);
  const transfers = makeSnapshots(pool, hundredBodies, clock, whileBusy, aged);
  const samples = makeSnapshots(pool, hundredBodies, clock, whileBusy, aged);
  const windows = makeWindows(makeSnapshots(pool, hundredBodies, clock, whileBusy, aged));
  const answerTable = tableAnswerer({ ...options, pool, clock, whileBusy });
  const app = express();
  app.disable("x-powered-by");
  // cacheable bodies set their own ETag; others need none
  app.disable("etag");
  app.set("query parser", false);
  // for caches, one resource has one address
  app.enable("case sensitive routing");
  app.enable("strict routing");
  app.set("trust proxy", [...options.trustProxy]);

  app.use((_request, response, next) => {
    for (const [name, value] of Object.entries(publicHeaders)) response.setHeader(name, value);
    next();
  });
  app.use(onlyWholeRequests);
  const faults = makeFaults(log);
  const onFault = (error: unknown) => void faults.isPassing(error, "/mcp");
  // before the other routes, which refuse POST
  const source = boardSource({ ...options, boards, windows, incidents, transfers, onFault });
  addMcpRoute(app, {
    ...{ makeServer: agentServers({ source, onBug: onFault }), baseUrl: options.baseUrl, limit },
    answerErrors: (send) => answerErrors(log, send, faults),
  });
  app.use(onlyReading);
  app.get("/healthz", noStore, (_request, response) => {
    const health: TypeOf<typeof healthResponse> = healthBody("web");
    response.json(health);
  });
  const ready = onceIn(readyForMs, () => readiness(pool, options.ofReplica));
  app.get("/readyz", noStore, async (_request, response) => {
    const state = await readinessOf(ready, log);
    response.status(state.ready ? 200 : 503).json(state);
  });

  const sendProblem = problemSender(log, errorPages(shellOf(options)));
  const byBytes = byteLimiter(limit, sendProblem);
  app.get("/openapi.json", byBytes, openapiRoute(options));
  app.get("/assets/:build/:name", byBytes, assetRoute(options.brand));

  if (limit) app.use(requestLimiter(limit, sendProblem));
  app.use((request, _response, next) => next(failures.get(request)));
  app.get("/llms.txt", llmsTextRoute(options, operations(registry, options.siteUrl)));
  app.get("/v1/status", statusRoute(boards));
  app.get(["/v1/exchanges/:venue", "/v1/targets/:venue"], venueRoute(registry, boards, answerTable));
  app.get(["/v1/exchanges/:venue/state", "/v1/targets/:venue/state"], venueStateRoute(registry, boards));
  app.get("/v1/regions", regionsRoute(boards));
  app.get("/v1/thresholds", thresholdsRoute(registry));
  app.get("/v1/reliability", reliabilityRoute(windows, answerTable));
  app.get("/v1/detection", detectionRoute(windows));
  app.get("/v1/notify", notifyRoute(boards));
  app.get("/v1/transfers", transfersRoute(registry, boards, transfers, answerTable));
  app.get("/v1/transfers/:venue", venueTransfersRoute(registry, transfers));
  app.get("/v1/events", eventsRoute(registry, events, options.streamLimits ?? streamLimits, sendProblem));
  app.get("/v1/incidents", incidentsRoute(registry, incidents, answerTable));
  app.get("/v1/maintenance", maintenanceRoute(registry, incidents, answerTable));
  const ofSamples = { pool, incidents, samples, answerTable };
  for (const format of tableFormats) {
    app.get(`/v1/incidents/:slug/samples.${format}`, incidentSamplesRoute(ofSamples, format));
    app.get(`/v1/targets/:venue/days.${format}`, venueDaysRoute(registry, answerTable, format));
    app.get(`/v1/reliability.${format}`, reliabilityRoute(windows, answerTable, format));
    app.get(`/v1/incidents.${format}`, incidentsRoute(registry, incidents, answerTable, format));
    app.get(`/v1/maintenance.${format}`, maintenanceRoute(registry, incidents, answerTable, format));
    app.get(`/v1/transfers.${format}`, transfersRoute(registry, boards, transfers, answerTable, format));
  }
  app.get("/v1/incidents/:slug", incidentRoute(pool, incidents));
  app.get("/v1/incidents/:slug/samples", incidentSamplesRoute(ofSamples));
  const feeds = makeSnapshots(pool, hundredBodies, clock, whileBusy);
  for (const [path, route] of feedRoutes(options, feeds)) app.get(path, route);
  const statuspages = makeSnapshots(pool, hundredBodies, clock, whileBusy, aged);
  for (const [path, route] of statuspageRoutes({ ...options, snapshots: statuspages })) app.get(path, route);
  app.use(statuspageRedirects());
  // separate: its key changes with time, so only one body at a time is useful
  const metrics = makeSnapshots(pool, oneBody, clock, whileBusy);
  app.get("/metrics", metricsRoute(metrics));
  const openapi = () => openapiDocument(options, new Date());
  const pages = { ...options, pool, boards, windows, incidents, transfers, openapi };
  for (const [path, route] of Object.entries(embedRoutes(pages))) app.get(path, route);
  app.use(pagesRouter(pages));
  app.use(notFound);
  app.use(answerErrors(log, sendProblem, faults));
  return app;
}

export interface AppOptions extends Site {
  pool: Pool;
  /** Whether `pool` should connect to a replica; `/readyz` then reports its lag. */
  ofReplica?: boolean;
  /** Requests a minute per client address; 0: no limit. */
  rateLimit: number;
  trustProxy: readonly string[];
  log: Log;
  /** Called when a request has ended. */
  onAnswered?: (answered: AnsweredRequest) => void;
  /**
   * How long a reading of the database's clock may be reused; bodies may lag behind a tick by as much. Under load the
   * database is then queried a few times a second, not between any two responses. Absent: 0.
   */
  clockTrustedMs?: number;
  /** Maximum age of a body that is sent while the database is slow. Absent: 0, and such requests wait. */
  heldMs?: number;
  /** Limits of open event streams. Absent: the usual ones. */
  streamLimits?: StreamLimits;
  /** Absent: the usual ones. */
  connectionLimits?: ConnectionLimits;
  /** Age of the newest decision beyond which bodies are stale, and pages warn. Absent: half a minute. */
  staleAfterMs?: number;
}

export function makeShared(options: AppOptions): Shared {
  const { pool, registry, rateLimit, clockTrustedMs, heldMs = 0, log } = options;
  const clock = makeClock(pool, clockTrustedMs);
  const aged = makeAged(clock, options.staleAfterMs ?? staleAfterMs);
  const busy = makeOutage(log, busyWords, {
    level: "warn",
    endsByItself: true,
  });
  const onHeld = (error?: unknown) => busy.failed("answers", error === undefined ? {} : { error });
  const whileBusy = { heldMs, patienceMs, onHeld };
  return {
    clock,
    boards: makeBoards(pool, registry, clock, whileBusy, aged),
    ...{ whileBusy, aged },
    limit: makeLimit(rateLimit),
    events: makeEventStreams(makeChangeLog(pool, log), makeFreshness(clock, options.staleAfterMs ?? staleAfterMs)),
    failures: new WeakMap(),
  };
}

/** State shared by the app and the shortcut in front of it. */
export interface Shared {
  clock: DatabaseClock;
  boards: Boards;
  whileBusy: WhileBusy;
  aged: Aged;
  limit: RateLimit | null;
  events: EventStreams;
  /** Errors of requests that the shortcut left to the app. */
  failures: WeakMap<IncomingMessage, unknown>;
}

/** Longer than any of the service's own tasks occupies the embedded database. */
const patienceMs = 1_000;

const busyWords = {
  begins: "answering with the newest board in memory: the database is busy",
  lasts: "still answering with an older board: the database is busy",
  over: "answering with new boards again: the database is no longer busy",
};

/** Load balancers ask every few seconds, and anybody else may ask as often as they like. */
const readyForMs = 1_000;

/** What `work` resolves to, at most once in this time; concurrent calls share it. */
function onceIn<T>(ms: number, work: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | null = null;
  let untilMs = 0;
  return () => {
    if (last !== null && performance.now() < untilMs) return last;
    untilMs = Infinity;
    last = work().finally(() => (untilMs = performance.now() + ms));
    return last;
  };
}

const hundredBodies = { bodies: 100, bytes: 16 * mebibyte };
const oneBody = { bodies: 1, bytes: 64 * mebibyte };

/** Statements over windows of up to 365 lengths, many filters or cursors: far more responses than the cache holds. */
const ofWholeWindows = new Set([
  ...["reliability", "reliability_csv", "incidents_csv", "detection"],
  ...["incident_samples", "incident_samples_csv"],
]);

const onlyWholeRequests: RequestHandler = (request, response, next) => {
  const fault = headFault(request);
  if (fault !== null) {
    // the start of the next request is unknown
    response.setHeader("Connection", "close");
    throw new Problem(400, fault);
  }
  // Node's own response would have no body
  const { expect } = request.headers;
  if (expect !== undefined && expect.toLowerCase() !== "100-continue")
    throw new Problem(417, "Expected no Expect header or 100-continue.");
  next();
};

/** There is no write path: other methods are refused before anything else handles them. */
const onlyReading: RequestHandler = (request, response, next) => {
  if (request.method === "GET" || request.method === "HEAD") return next();
  response.setHeader("Allow", "GET, HEAD, OPTIONS");
  if (request.method === "OPTIONS") return answerPreflight(response);
  throw new Problem(405, `${request.method} is not supported: use GET.`);
};

/** Browsers send a preflight before a request with a non-standard header, and If-None-Match counts as one. */
function answerPreflight(response: Response): void {
  response.setHeader("Access-Control-Allow-Methods", "GET, HEAD");
  response.setHeader("Access-Control-Allow-Headers", "*");
  response.setHeader("Access-Control-Max-Age", "86400");
  response.status(204).end();
}

const noStore: RequestHandler = (_request, response, next) => {
  response.setHeader("Cache-Control", "no-store");
  next();
};
