/** A venue of the simulation: one HTTP server with two endpoints and a WebSocket stream, which fail as instructed. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { WebSocketServer } from "ws";
import type { Official, RestEndpoint, Stream, Venue } from "../shared/registry/registry.js";

/**
 * What a venue does wrong at the moment; null: nothing. `silent`: it accepts requests and never answers. `quiet
 * stream`: its stream sends nothing, although there are trades. `quiet market`: there are none, which is no fault.
 * `limit`: it answers 200, and says that we ask too often. `ban`: it answers 403. `halt`: it says that it does not
 * trade.
 */
export type VenueFault = (typeof venueFaults)[number] | null;

export const venueFaults = [
  ...(["errors", "silent", "slow", "nonsense", "limit", "ban", "halt", "quiet stream", "quiet market"] as const),
];

const statuses: Partial<Record<NonNullable<VenueFault>, number>> = { errors: 503, ban: 403 };

export const venuePort = 8080;
const tradeEveryMs = 2_000;

export interface SimulatedVenue {
  fault: (fault: VenueFault) => void;
}

/** To be called in the venue's process. */
export function startSimulatedVenue(): SimulatedVenue {
  let fault: VenueFault = null;
  let tradedMs = Date.now();
  setInterval(() => {
    if (fault !== "quiet market") tradedMs = Date.now();
  }, tradeEveryMs);

  function answer(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    if (fault === "silent") return;
    const said = fault === "limit" || fault === "halt" ? { says: fault } : {};
    const body = fault === "nonsense" ? '{"price":null' : JSON.stringify({ price: "100.5", tradedMs, ...said });
    const status = (fault && statuses[fault]) ?? 200;
    const answerNow = () => void response.writeHead(status, { "content-type": "application/json" }).end(body);
    if (fault === "slow") setTimeout(answerNow, 6_000);
    else answerNow();
  }

  const server = createServer({ keepAliveTimeout: 330_000 }, answer);
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    const timer = setInterval(() => {
      const isQuiet = ["quiet stream", "quiet market", "silent"].includes(fault ?? "");
      if (!isQuiet) socket.send(JSON.stringify({ channel: "trades", price: "100.5", time: Date.now() }));
    }, tradeEveryMs);
    socket.on("close", () => clearInterval(timer));
    socket.on("error", () => socket.terminate());
  });
  server.listen(venuePort, "0.0.0.0");
  return { fault: (given) => (fault = given) };
}

/** Whether REST shows that there were trades which the stream did not bring. */
export function hasCounterpart(id: string): boolean {
  return Number(id.split("-")[1]) % 2 === 0;
}

/** The registry's entry of a simulated venue; its host is `<id>.venue`. */
export function venueEntry(id: string, cadenceMs: number, official: Official | null): Venue {
  const endpoint = (name: string): RestEndpoint => ({
    ...{ name, label: name, method: "GET", expectStatus: 200, proof: "$.price", cadenceMs },
    url: `http://${id}.venue:${venuePort}/${name}`,
    timeoutMs: Math.min(4_500, cadenceMs - 500),
    limited: { path: "$.says", equals: "limit" },
    halted: { path: "$.says", equals: "halt" },
    newest: { path: "$.tradedMs", unit: "ms" },
  });
  const stream: Stream = {
    ...{ name: "trades", label: "Trades", subscribe: { subscribe: "trades" }, cadenceMs },
    match: { path: "$.channel", equals: "trades" },
    ...{ typicalPerMinute: 60_000 / tradeEveryMs, rateBasis: hasCounterpart(id) ? "estimate" : "documented" },
    ...(hasCounterpart(id) && { counterpart: "ticker" }),
    stall: { afterMs: 10_000, distribution: null },
  };
  return {
    ...{ id, name: id, category: "exchange", symbol: "BTCUSDT", quote: "USDT", chain: null, official },
    rest: [endpoint("ticker"), endpoint("book")],
    socket: {
      url: `ws://${id}.venue:${venuePort}/`,
      keepAlive: { send: { kind: "ping", everyMs: 15_000 }, replyWithinMs: 10_000, deadAfterMs: 45_000 },
      ...{ maxConnectionMs: null, streams: [stream] },
    },
  };
}
