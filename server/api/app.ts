import express, { type Express, type RequestHandler } from "express";
import { rateLimit } from "express-rate-limit";
import type { Pool } from "../db.js";
import { healthBody, readinessOf } from "../health.js";
import type { Log } from "../log.js";
import type { Registry } from "../registry.js";
import { incidentRoute } from "./incident.js";
import { incidentsRoute } from "./incidents.js";
import { answerErrors, notFound, Problem, sendProblem } from "./problem.js";
import { readiness } from "../readiness.js";
import { regionsRoute } from "./regions.js";
import { makeSnapshots } from "./snapshot.js";
import { statusRoute } from "./status.js";
import { thresholdsRoute } from "./thresholds.js";
import { venueRoute } from "./venue.js";

export interface AppOptions {
  pool: Pool;
  registry: Registry;
  /** Requests a minute per client address; 0: no limit. */
  rateLimit: number;
  trustProxy: readonly string[];
  log: Log;
}

/** The public API. It only reads, holds no state but bodies of the newest tick, and does not listen by itself. */
export function makeApp(options: AppOptions): Express {
  const { pool, registry, log } = options;
  const snapshots = makeSnapshots(pool);
  const app = express();
  app.disable("x-powered-by");
  app.set("etag", "strong");
  app.set("query parser", false);
  app.set("trust proxy", [...options.trustProxy]);

  app.use(publicHeaders);
  app.use(onlyReading);
  app.get("/healthz", noStore, (_request, response) => {
    response.json(healthBody("web"));
  });
  app.get("/readyz", noStore, async (_request, response) => {
    const state = await readinessOf(() => readiness(pool), log);
    response.status(state.ready ? 200 : 503).json(state);
  });

  if (options.rateLimit > 0) app.use(limiter(options.rateLimit));
  app.get("/v1/status", statusRoute(registry, snapshots));
  app.get(
    ["/v1/exchanges/:venue", "/v1/targets/:venue"],
    venueRoute(registry, snapshots),
  );
  app.get("/v1/regions", regionsRoute(snapshots));
  app.get("/v1/thresholds", thresholdsRoute(registry));
  app.get("/v1/incidents", incidentsRoute(registry, snapshots));
  app.get("/v1/incidents/:slug", incidentRoute(pool));
  app.use(notFound);
  app.use(answerErrors(log));
  return app;
}

/** Anybody may read from any page; nothing here is ever to be sniffed, framed or scripted. */
const publicHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader(
    "Access-Control-Expose-Headers",
    "ETag, RateLimit, RateLimit-Policy, Retry-After",
  );
  response.setHeader("X-Content-Type-Options", "nosniff");
  next();
};

/** There is no write path: what is not reading is refused before anything else looks at it. */
const onlyReading: RequestHandler = (request, response, next) => {
  if (request.method === "GET" || request.method === "HEAD") return next();
  response.setHeader("Allow", "GET, HEAD");
  throw new Problem(405, `${request.method} is not possible here: use GET.`);
};

const noStore: RequestHandler = (_request, response, next) => {
  response.setHeader("Cache-Control", "no-store");
  next();
};

function limiter(perMinute: number): RequestHandler {
  return rateLimit({
    windowMs: 60_000,
    limit: perMinute,
    standardHeaders: "draft-8",
    legacyHeaders: false,
    handler: (_request, response) => {
      sendProblem(
        response,
        429,
        `More than ${perMinute} requests within a minute came from your address. Wait as long as Retry-After says.`,
      );
    },
  });
}
