/** A venue of the simulation: one HTTP server with two endpoints and a WebSocket stream, which fail as instructed. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { WebSocketServer } from "ws";
import { chainVenueId } from "../shared/registry/chain-venues.js";
import type { Official, Registry, RestEndpoint, Stream, Venue } from "../shared/registry/registry.js";
import { type Poison, saidDataTime, saidTime } from "./poison.js";

/**
 * What a venue does wrong at the moment; null: nothing. `silent`: it accepts requests and never answers. `quiet
 * stream`: its stream sends nothing, although there are trades. `quiet market`: there are none, which is no fault.
 * `limit`: it answers 200, and says that we ask too often. `ban`: it answers 403. `halt`: it says that it does not
 * trade. `lag`: its node falls behind the chain, ever faster; venues that are no providers have no node, and do nothing
 * wrong.
 */
export type VenueFault = (typeof venueFaults)[number] | null;

export const venueFaults = [
  ...(["errors", "silent", "slow", "nonsense", "limit", "ban", "halt", "lag"] as const),
  ...(["quiet stream", "quiet market"] as const),
];

const statuses: Partial<Record<NonNullable<VenueFault>, number>> = { errors: 503, ban: 403 };

export const venuePort = 8080;
const tradeEveryMs = 2_000;

/** The first venues are providers of one chain: its heads are judged from three on. */
const providers = 3;
const chainName = "chain";
const blockMs = 2_000;
/** A node that lags is more than 100,000 blocks behind after a quarter of a minute. */
const lagPerSecondSquared = 500;

export const chains: NonNullable<Registry["chains"]> = { [chainName]: { blockMs, source: "simulation/venue.ts" } };

/** The chain that the providers read: it outlives their processes. */
export interface SimulatedChain {
  /** Id of the venue that stands for it. */
  name: string;
  head: () => number;
  /** Whether it makes no blocks. After that it goes on from where it stood. */
  stand: (stands: boolean) => void;
}

/** @param nowMs true time */
export function makeSimulatedChain(nowMs: () => number): SimulatedChain {
  let stoodMs = 0;
  let standsSinceMs: number | null = null;
  return {
    name: chainVenueId(chainName),
    head: () => Math.floor(((standsSinceMs ?? nowMs()) - stoodMs) / blockMs),
    stand(stands) {
      if (standsSinceMs !== null) stoodMs += nowMs() - standsSinceMs;
      standsSinceMs = stands ? nowMs() : null;
    },
  };
}

export interface SimulatedVenue {
  fault: (fault: VenueFault) => void;
  poison: (poison: Poison | null) => void;
}

/** To be called in the venue's process. */
export function startSimulatedVenue(chain: SimulatedChain): SimulatedVenue {
  let fault: VenueFault = null;
  let poison: Poison | null = null;
  let tradedMs = Date.now();
  let laggingSinceMs = 0;
  setInterval(() => {
    if (fault !== "quiet market") tradedMs = Date.now();
  }, tradeEveryMs);

  function answer(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    if (fault === "silent") return;
    const said = fault === "limit" || fault === "halt" ? { says: fault } : {};
    const times = { tradedMs: saidTime(tradedMs, poison), atMs: saidDataTime(Date.now(), poison) };
    const body =
      fault === "nonsense" ? '{"price":null' : JSON.stringify({ price: "100.5", head: head(), ...times, ...said });
    const status = (fault && statuses[fault]) ?? 200;
    const answerNow = () => void response.writeHead(status, { "content-type": "application/json" }).end(body);
    if (fault === "slow") setTimeout(answerNow, 6_000);
    else answerNow();
  }

  function head(): number {
    const laggingS = fault === "lag" ? (Date.now() - laggingSinceMs) / 1000 : 0;
    return chain.head() - Math.round(lagPerSecondSquared * laggingS ** 2);
  }

  const server = createServer({ keepAliveTimeout: 330_000 }, answer);
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    const timer = setInterval(() => {
      const isQuiet = ["quiet stream", "quiet market", "silent"].includes(fault ?? "");
      const time = saidTime(Date.now(), poison);
      if (!isQuiet) socket.send(JSON.stringify({ channel: "trades", price: "100.5", time }));
    }, tradeEveryMs);
    socket.on("close", () => clearInterval(timer));
    socket.on("error", () => socket.terminate());
  });
  server.listen(venuePort, "0.0.0.0");
  return {
    fault(given) {
      if (given === "lag") laggingSinceMs = Date.now();
      fault = given;
    },
    poison: (given) => void (poison = given),
  };
}

/** Whether it is a provider of the chain, which is responsible for the heads of its node. */
export function isProvider(id: string): boolean {
  return numberOf(id) <= providers;
}

/** Whether REST shows that there were trades which the stream did not bring. */
export function hasCounterpart(id: string): boolean {
  return numberOf(id) % 2 === 0;
}

function numberOf(id: string): number {
  return Number(id.split("-")[1]);
}

/** The component whose answers have the head of the chain. */
export const headComponent = "rest:book";

/** The registry's entry of a simulated venue; its host is `<id>.venue`. */
export function venueEntry(id: string, cadenceMs: number, official: Official | null): Venue {
  const endpoint = (name: string): RestEndpoint => ({
    ...{ name, label: name, method: "GET", expectStatus: 200, proof: "$.price", cadenceMs },
    url: `http://${id}.venue:${venuePort}/${name}`,
    timeoutMs: Math.min(4_500, cadenceMs - 500),
    limited: { path: "$.says", equals: "limit" },
    halted: { path: "$.says", equals: "halt" },
    newest: { path: "$.tradedMs", unit: "ms" },
    dataTime: { path: "$.atMs", unit: "ms", staleAfterMs: 60_000 },
    ...(isProvider(id) && headComponent === `rest:${name}` && { head: { path: "$.head", encoding: "integer" } }),
  });
  const stream: Stream = {
    ...{ name: "trades", label: "Trades", subscribe: { subscribe: "trades" }, cadenceMs },
    match: { path: "$.channel", equals: "trades" },
    eventTime: { path: "$.time", unit: "ms" },
    ...{ typicalPerMinute: 60_000 / tradeEveryMs, rateBasis: hasCounterpart(id) ? "estimate" : "documented" },
    ...(hasCounterpart(id) && { counterpart: "ticker" }),
    stall: { afterMs: 10_000, distribution: null },
  };
  return {
    ...{ id, name: id, symbol: "BTCUSDT", quote: "USDT", official },
    ...(isProvider(id) ? { category: "rpc", chain: chainName } : { category: "exchange", chain: null }),
    rest: [endpoint("ticker"), endpoint("book")],
    socket: {
      url: `ws://${id}.venue:${venuePort}/`,
      keepAlive: { send: { kind: "ping", everyMs: 15_000 }, replyWithinMs: 10_000, deadAfterMs: 45_000 },
      ...{ maxConnectionMs: null, streams: [stream] },
    },
  };
}
