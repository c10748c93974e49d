/** One venue's REST answers, good ones and faulty ones. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RestEndpoint } from "../../server/registry.js";
import type { FaultKind, ScriptedFault } from "./faults.js";
import { worldPath } from "./loopback.js";
import { regionOf, type Stage } from "./stage.js";
import { bodyOf } from "./venues/any.js";

const maxRequestBytes = 65_536;

export function serveRest(
  stage: Stage,
): (request: IncomingMessage, response: ServerResponse) => void {
  return function onRequest(request, response) {
    // A client that goes away in mid-answer is its own business.
    request.on("error", () => response.destroy());
    readBody(request, (body) => answer(request, response, body));
  };

  function answer(
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
  ) {
    const endpoint = stage.venue.rest.find((candidate) =>
      isFor(candidate, request, body),
    );
    if (!endpoint) return notFound(request, response, stage);
    const region = regionOf(request);
    const component = `rest:${endpoint.name}`;
    stage.count(component, region);
    const fault = stage.faultOf(component, region);
    const waitMs = stage.latencyMs(region) + slowness(fault);
    if (waitMs === 0) return deliver(response, endpoint, fault);
    const timer = setTimeout(deliver, waitMs, response, endpoint, fault);
    response.once("close", () => clearTimeout(timer));
  }

  function deliver(
    response: ServerResponse,
    endpoint: RestEndpoint,
    fault: ScriptedFault | undefined,
  ) {
    const faulty = fault && faultyAnswers[fault.kind];
    if (faulty) return faulty(response, fault, stage);
    const make = stage.player.rest[endpoint.name];
    const tick = stage.market.tick();
    const body = make ? make(tick) : bodyOf(endpoint, tick, stage.venue.chain);
    sendJson(response, endpoint.expectStatus, body);
  }
}

function slowness(fault: ScriptedFault | undefined): number {
  return fault?.kind === "slow" ? (fault.latencyMs ?? 3000) : 0;
}

/** Without an entry (`slow`), the answer is good. */
const faultyAnswers: Partial<
  Record<
    FaultKind,
    (response: ServerResponse, fault: ScriptedFault, stage: Stage) => void
  >
> = {
  reset: (response) => response.socket?.resetAndDestroy(),
  timeout: () => {},
  status: (response, { status = 503, location }) => {
    if (location) response.setHeader("location", location);
    sendHtml(response, status, `<h1>${status}</h1>`);
  },
  limited: (response, { retryAfterS = 30 }) => {
    response.setHeader("retry-after", Math.ceil(retryAfterS));
    sendJson(response, 429, { msg: "Too many requests" });
  },
  "wrong-body": (response) =>
    sendHtml(response, 200, "<h1>We will be back soon</h1>"),
  "error-inside": (response, _fault, { player }) =>
    sendJson(response, 200, player.errorInside),
  drip,
  endless,
};

function drip(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.write("[");
  const timer = setInterval(() => response.write(" "), 100);
  response.once("close", () => clearInterval(timer));
}

const chunk = Buffer.alloc(16_384, '"0",');

/** Goes on as fast as the client reads: a client that does not read makes it wait for `drain`. */
function endless(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.write("[");
  response.on("drain", pour);
  pour();

  function pour() {
    while (!response.destroyed && response.write(chunk));
  }
}

function readBody(
  request: IncomingMessage,
  then: (body: string) => void,
): void {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (text: string) => {
    body += text;
    if (body.length > maxRequestBytes) request.destroy();
  });
  request.on("end", () => then(body));
}

/** Several JSON-RPC endpoints share one address: there the request's body decides. */
function isFor(
  { method, url, body: expected }: RestEndpoint,
  request: IncomingMessage,
  body: string,
): boolean {
  return (
    method === request.method &&
    worldPath(url) === request.url &&
    (expected === undefined || JSON.stringify(expected) === body)
  );
}

function notFound(
  request: IncomingMessage,
  response: ServerResponse,
  { venue }: Stage,
): void {
  sendJson(response, 404, {
    error: `${venue.id} has no ${request.method} ${request.url} with that body`,
    expected: venue.rest.map(
      ({ method, url }) => `${method} ${worldPath(url)}`,
    ),
  });
}

function sendJson(response: ServerResponse, status: number, body: unknown) {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

function sendHtml(response: ServerResponse, status: number, text: string) {
  response.writeHead(status, { "content-type": "text/html" });
  response.end(`<!doctype html><title>venue</title>${text}`);
}
