/** One venue's REST answers, good and faulty. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RestEndpoint } from "../shared/registry/registry.js";
import { blocksOff, headAt, standsWithChain } from "./chain-heads.js";
import { faultyAnswers, type ScriptedFault, slowness } from "./faults.js";
import { sendJson, sendHtml } from "./listener.js";
import { worldPath } from "./loopback-registry.js";
import type { SimulatedFeed } from "./notices/feed.js";
import { clientOf, type Stage } from "./stage.js";
import { serveTransfers } from "./transfers.js";
import { saidBy } from "./venue-words.js";
import { bodyOf } from "./venues/any.js";

const maxRequestBytes = 65_536;

export function serveRest(
  stage: Stage,
  feed: SimulatedFeed | null,
): (request: IncomingMessage, response: ServerResponse) => void {
  const answered = new Map<string, number>();
  const list = serveTransfers(stage);
  return function onRequest(request, response) {
    // A client that disconnects during an answer is no problem of the world.
    request.on("error", () => response.destroy());
    readBody(request, (body) => answer(request, response, body));
  };

  function answer(request: IncomingMessage, response: ServerResponse, body: string) {
    if (feed?.isAsked(request)) return feed.answer(request, response);
    if (list?.isAsked(request)) return list.answer(request, response);
    const endpoint = stage.venue.rest.find((candidate) => isFor(candidate, request, body));
    if (!endpoint) return notFound(request, response, stage);
    const client = clientOf(request);
    const { region } = client;
    const component = `rest:${endpoint.name}`;
    stage.count(component, region);
    const fault = stage.faultOf(component, client);
    const waitMs = stage.latencyMs(region) + slowness(fault);
    const turn = turnOf(`${component} ${region}`);
    if (waitMs === 0) return deliver(response, endpoint, fault, turn);
    const timer = setTimeout(deliver, waitMs, response, endpoint, fault, turn);
    response.once("close", () => clearTimeout(timer));
  }

  function turnOf(asked: string): number {
    const turn = answered.get(asked) ?? 0;
    answered.set(asked, turn + 1);
    return turn;
  }

  function deliver(response: ServerResponse, endpoint: RestEndpoint, fault: ScriptedFault | undefined, turn: number) {
    const faulty = fault && faultyAnswers[fault.kind];
    if (faulty) return faulty(response, fault, stage.player.errorInside);
    const said = saidBy(endpoint, fault);
    if (typeof said === "string") return sendHtml(response, 200, said);
    if (said !== undefined) return sendJson(response, 200, said);
    sendJson(response, endpoint.expectStatus, goodBody(endpoint, fault, blocksOff(fault, turn)));
  }

  function goodBody(endpoint: RestEndpoint, fault: ScriptedFault | undefined, off: number): unknown {
    // an address has one answer, the same for probes and readers of the feed
    if (feed && endpoint.url === stage.venue.official?.api) return feed.body();
    const make = stage.player.rest[endpoint.name];
    const freezes = fault?.kind === "frozen" || (fault && standsWithChain(fault, stage.venue, endpoint));
    const tick = stage.freeze(freezes ? fault : undefined, stage.now(), () => stage.market.tick());
    return make ? make(tick) : bodyOf(endpoint, tick, headAt(stage.venue.chain, tick.ms) + off);
  }
}

function readBody(request: IncomingMessage, then: (body: string) => void): void {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (text: string) => {
    body += text;
    if (body.length > maxRequestBytes) request.destroy();
  });
  request.on("end", () => then(body));
}

/** Several JSON-RPC endpoints share one address, so the request's body identifies the endpoint. */
function isFor(endpoint: RestEndpoint, request: IncomingMessage, body: string): boolean {
  const { method, url, alternatives = [], body: expected } = endpoint;
  return (
    method === request.method &&
    [url, ...alternatives].some((address) => worldPath(address) === request.url) &&
    (expected === undefined || JSON.stringify(expected) === body)
  );
}

function notFound(request: IncomingMessage, response: ServerResponse, { venue }: Stage): void {
  sendJson(response, 404, {
    error: `${venue.id} has no ${request.method} ${request.url} with that body`,
    expected: venue.rest.map(({ method, url }) => `${method} ${worldPath(url)}`),
  });
}
