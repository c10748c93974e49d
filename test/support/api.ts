/** The public API as a client sees it: a real server on a free port. Every answer is checked against its schema. */
import { request, type IncomingHttpHeaders } from "node:http";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { OpenAPIObject, ResponseObject } from "openapi3-ts/oas31";
import type { Test } from "tap";
import type { AppOptions } from "../../server/web/app.js";
import { openapiDocument } from "../../server/web/openapi.js";
import { startWeb } from "../../server/web/web.js";
import { makeLog } from "../../shared/log/log.js";
import { closed } from "./closed-schema.js";
import { describedColumns, describedTable } from "./table.js";

export interface Answer<Body> {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The same as they came, for what is no text. */
  bytes: Buffer;
  body: Body;
}

export interface Asked {
  method?: string;
  headers?: Record<string, string>;
  /** The server's address to connect to, and the local address to connect from; absent: 127.0.0.1. */
  host?: string;
  localAddress?: string;
}

export interface Api {
  port: number;
  /**
   * Sends exactly this path. The answer's body is checked against the schema of its route, or against that of problems.
   * A table is read strictly, checked against the described columns, and returned as an object for each row.
   *
   * @throws Error where the answer does not match
   */
  ask<Body = unknown>(path: string, details?: Asked): Promise<Answer<Body>>;
  /** Lines that the server logged at level warn and above. */
  logged: string[];
  close: () => Promise<void>;
}

/** Serves the API until the test ends. */
export async function serve(
  t: Test,
  options: Pick<AppOptions, "pool" | "registry"> & Partial<AppOptions> & { host?: string; port?: number },
): Promise<Api> {
  const logged: string[] = [];
  const web = await startWeb({
    ...{ port: 0, host: "127.0.0.1", rateLimit: 0, trustProxy: [] },
    ...{ baseUrl: "https://api.example.org", siteUrl: "http://localhost" },
    // a test decides once, and may then read pages for longer than the service takes between ticks
    staleAfterMs: 3_600_000,
    log: makeLog("web", "warn", (line) => logged.push(line)),
    ...options,
  });
  t.teardown(web.close);
  const parsed = answersHeldAgainst(documentOf(options));
  async function ask<Body>(path: string, details?: Asked) {
    const answer = await exchange(web.port, path, details);
    const body = parsed(path, answer, details?.method ?? "GET") as Body;
    return { ...answer, body };
  }
  return { port: web.port, ask, logged, close: web.close };
}

function exchange(port: number, path: string, details: Asked = {}) {
  type Raw = Omit<Answer<unknown>, "body">;
  return new Promise<Raw>((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, agent: false, ...details };
    const sent = request(options, (response) => {
      const pieces: Buffer[] = [];
      const soFar = () => {
        const bytes = Buffer.concat(pieces);
        return { status: response.statusCode!, headers: response.headers, text: bytes.toString(), bytes };
      };
      response.on("data", (piece: Buffer) => {
        pieces.push(piece);
        // it never ends
        const isStream = response.headers["content-type"]?.startsWith("text/event-stream");
        if (isStream && soFar().text.includes("event: ")) {
          resolve(soFar());
          response.destroy();
        }
      });
      response.on("error", reject);
      response.on("end", () => resolve(soFar()));
    });
    sent.on("error", reject).end();
  });
}

/** Returns the API description that an app with these options publishes. */
export function documentOf(options: Partial<AppOptions> & Pick<AppOptions, "registry">): OpenAPIObject {
  const { registry, baseUrl = "https://api.example.org", siteUrl = "http://localhost" } = options;
  return openapiDocument({ registry, baseUrl, siteUrl }, new Date());
}

/** Returns the path of the document that matches the request; null where it describes none. */
export function describedPath(document: OpenAPIObject, path: string): string | null {
  const format = /[?&]format=(csv|xlsx)\b/.exec(path)?.[1];
  const place = path.replace(/\?.*$/s, "");
  // tables have addresses of their own in the document
  if (format === undefined || place.endsWith(`.${format}`)) return matchingPath(document, place);
  const table = place.replace(/^\/v1\/(?:targets|exchanges)\/([^/]+)$/, "/v1/targets/$1/days");
  return matchingPath(document, `${table}.${format}`);
}

function matchingPath(document: OpenAPIObject, place: string): string | null {
  // matches as leniently as Express: any case, and an optional slash at the end
  const plain = place.replace(/\/$/, "").toLowerCase();
  const matches = Object.keys(document.paths!).filter((template) =>
    new RegExp(`^${template.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`).test(plain),
  );
  return matches[0] ?? null;
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Checks an answer's status, type and body against the document: it may contain only what is described. */
export function answersHeldAgainst(document: OpenAPIObject) {
  const ajv = new Ajv2020({
    allErrors: true,
    // the document as a whole is not a schema
    strictSchema: false,
    formats: { "date-time": instant, date: /^\d{4}-\d\d-\d\d$/, binary: true },
  });
  ajv.addSchema(closed(document), "openapi.json");
  const isProblem = checkOf("/components/schemas/Problem");
  const checks = new Map<string, ValidateFunction>();

  function checkOf(pointer: string): ValidateFunction {
    return ajv.compile({ $ref: `openapi.json#${pointer}` });
  }

  function checkOfAnswer(path: string, type: string): ValidateFunction {
    const template = describedPath(document, path);
    const response = document.paths![template ?? ""]?.get?.responses?.["200"] as ResponseObject | undefined;
    if (!template || !response?.content?.[type]) throw new Error(`${path}: a 200 of ${type} is not described`);
    const parts = ["paths", template, "get", "responses", "200", "content", type, "schema"];
    const pointer = parts.map((part) => `/${encodeURIComponent(escaped(part))}`).join("");
    const check = checks.get(pointer) ?? checkOf(pointer);
    checks.set(pointer, check);
    return check;
  }

  return function parsed(path: string, answer: Omit<Answer<unknown>, "body" | "bytes">, method: string): unknown {
    const { status, headers, text } = answer;
    if (method === "HEAD" || status === 204 || status === 304) {
      if (text !== "") throw new Error(`${method} ${path}: expected no body`);
      return null;
    }
    const type = headers["content-type"]?.split(";")[0] ?? "none";
    if (status === 200 && !/[/+]json$/.test(type)) {
      checkOfAnswer(path, type);
      // tests that ask for other texts than tables read them themselves
      if (type !== "text/csv") return null;
      const separator = /[?&]decimal=comma\b/.test(path) ? ";" : ",";
      return describedTable(describedColumns(document, describedPath(document, path)!), text, separator);
    }
    // not part of the API, and in another form when it is not ready
    if (/^\/readyz/i.test(path)) return JSON.parse(text);
    if (status !== 200 && type !== "application/problem+json")
      throw new Error(`${path}: ${status} came as ${type}, not as a problem`);
    const body: unknown = JSON.parse(text);
    const check = status === 200 ? checkOfAnswer(path, type) : isProblem;
    if (check(body)) return body;
    const faults = ajv.errorsText(check.errors);
    throw new Error(`${path}: ${status} does not fit its schema: ${faults}\n${text.slice(0, 2000)}`);
  };
}

/** Escapes a part as JSON pointers do. */
function escaped(part: string): string {
  return part.replaceAll("~", "~0").replaceAll("/", "~1");
}
