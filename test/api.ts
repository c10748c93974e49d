/** The public API as a client has it: a real server on a free port, and every answer held against its schema. */
import { request, type IncomingHttpHeaders } from "node:http";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Test } from "tap";
import type { AppOptions } from "../server/api/app.js";
import {
  incidentDetailResponse,
  incidentsResponse,
} from "../server/api/schemas/incident.js";
import {
  healthResponse,
  problem,
  regionsResponse,
  thresholdsResponse,
} from "../server/api/schemas/service.js";
import { statusResponse } from "../server/api/schemas/status.js";
import { exchangeResponse } from "../server/api/schemas/venue.js";
import { startWeb } from "../server/api/web.js";
import { makeLog } from "../server/log.js";
import { parseCsv } from "./csv.js";

export interface Answer<Body> {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  body: Body;
}

export interface Asked {
  method?: string;
  headers?: Record<string, string>;
}

export interface Api {
  port: number;
  /**
   * Sends exactly this path. The answer's body is held against the schema of its route, or of problems; a table is read
   * strictly, into an object for each row.
   *
   * @throws Error where it does not fit
   */
  ask<Body = unknown>(path: string, asked?: Asked): Promise<Answer<Body>>;
  /** Lines that the server logged, of level warn and above. */
  logged: string[];
  close: () => Promise<void>;
}

/** Serves the API until the test ends. */
export async function serve(
  t: Test,
  options: Pick<AppOptions, "pool" | "registry"> &
    Partial<AppOptions> & { host?: string },
): Promise<Api> {
  const logged: string[] = [];
  const web = await startWeb({
    rateLimit: 0,
    trustProxy: [],
    siteUrl: "http://localhost",
    log: makeLog("web", "warn", (line) => logged.push(line)),
    port: 0,
    host: "127.0.0.1",
    ...options,
  });
  t.teardown(web.close);
  async function ask<Body>(path: string, asked?: Asked) {
    const answer = await exchange(web.port, path, asked);
    const body = bodyOf(path, answer, asked?.method ?? "GET") as Body;
    return { ...answer, body };
  }
  return { port: web.port, ask, logged, close: web.close };
}

function exchange(port: number, path: string, asked: Asked = {}) {
  type Raw = Omit<Answer<unknown>, "body">;
  return new Promise<Raw>((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, agent: false, ...asked };
    const sent = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => (text += piece));
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text,
        }),
      );
    });
    sent.on("error", reject).end();
  });
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const ajv = new Ajv2020({
  allErrors: true,
  formats: { "date-time": instant, date: /^\d{4}-\d\d-\d\d$/ },
});
const isProblem = ajv.compile(problem);
const routes: [RegExp, ValidateFunction][] = [
  [/^\/v1\/status$/, ajv.compile(statusResponse)],
  [/^\/v1\/(exchanges|targets)\/[^/]+$/, ajv.compile(exchangeResponse)],
  [/^\/v1\/regions$/, ajv.compile(regionsResponse)],
  [/^\/v1\/thresholds$/, ajv.compile(thresholdsResponse)],
  [/^\/v1\/incidents$/, ajv.compile(incidentsResponse)],
  [/^\/v1\/incidents\/[^/]+$/, ajv.compile(incidentDetailResponse)],
  [/^\/healthz$/, ajv.compile(healthResponse)],
  [/^\/readyz$/, ajv.compile({ type: "object", required: ["ready"] })],
];

/** The parsed body, or null where there is none to have. */
function bodyOf(
  path: string,
  { status, headers, text }: Omit<Answer<unknown>, "body">,
  method: string,
): unknown {
  if (method === "HEAD" || status === 204 || status === 304) {
    if (text !== "") throw new Error(`${method} ${path}: expected no body`);
    return null;
  }
  const type = headers["content-type"]?.split(";")[0] ?? "none";
  if (status === 200 && type === "text/csv") return parseCsv(text);
  const isReadiness = path.startsWith("/readyz") && status === 503;
  const expected =
    status === 200 || isReadiness
      ? "application/json"
      : "application/problem+json";
  if (type !== expected)
    throw new Error(`${path}: ${status} came as ${type}, not as ${expected}`);
  const body: unknown = JSON.parse(text);
  const check = type === "application/json" ? schemaOf(path) : isProblem;
  if (!check(body))
    throw new Error(
      `${path}: ${status} does not fit its schema: ${ajv.errorsText(check.errors)}\n${text.slice(0, 2000)}`,
    );
  return body;
}

/** Express is as lenient: a path matches in any case, and with a slash at its end. */
function schemaOf(path: string): ValidateFunction {
  const plain = path.replace(/\?.*$/s, "").replace(/\/$/, "").toLowerCase();
  const route = routes.find(([pattern]) => pattern.test(plain));
  if (!route) throw new Error(`${path}: nobody knows what this is to answer`);
  return route[1];
}
