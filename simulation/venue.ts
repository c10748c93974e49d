/** A venue of the simulation: one HTTP server with two endpoints and a WebSocket stream, which fail as instructed. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { WebSocketServer } from "ws";
import type { Official, RestEndpoint, Stream, Venue } from "../shared/registry/registry.js";

/** What a venue does wrong at the moment; null: nothing. `silent`: it accepts requests and never answers. */
export type VenueFault = "errors" | "silent" | "slow" | "nonsense" | "quiet stream" | null;

export const venuePort = 8080;
const messageEveryMs = 2_000;

export interface SimulatedVenue {
  fault: (fault: VenueFault) => void;
}

/** To be called in the venue's process. */
export function startSimulatedVenue(): SimulatedVenue {
  let fault: VenueFault = null;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    if (fault === "silent") return;
    if (fault === "errors") return void response.writeHead(503, { "content-type": "text/plain" }).end("maintenance");
    const body = fault === "nonsense" ? '{"price":null' : JSON.stringify({ price: "100.5", time: Date.now() });
    const answerNow = () => void response.writeHead(200, { "content-type": "application/json" }).end(body);
    if (fault === "slow") setTimeout(answerNow, 6_000);
    else answerNow();
  }

  const server = createServer({ keepAliveTimeout: 330_000 }, answer);
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    const timer = setInterval(() => {
      if (fault !== "quiet stream" && fault !== "silent")
        socket.send(JSON.stringify({ channel: "trades", price: "100.5", time: Date.now() }));
    }, messageEveryMs);
    socket.on("close", () => clearInterval(timer));
    socket.on("error", () => socket.terminate());
  });
  server.listen(venuePort, "0.0.0.0");
  return { fault: (given) => (fault = given) };
}

/** The registry's entry of a simulated venue; its host is `<id>.venue`. */
export function venueEntry(id: string, cadenceMs: number, official: Official | null): Venue {
  const endpoint = (name: string): RestEndpoint => ({
    ...{ name, label: name, method: "GET", expectStatus: 200, proof: "$.price", cadenceMs },
    url: `http://${id}.venue:${venuePort}/${name}`,
    timeoutMs: Math.min(4_500, cadenceMs - 500),
  });
  const stream: Stream = {
    ...{ name: "trades", label: "Trades", subscribe: { subscribe: "trades" }, cadenceMs },
    match: { path: "$.channel", equals: "trades" },
    ...{ typicalPerMinute: 60_000 / messageEveryMs, rateBasis: "documented" },
    stall: { afterMs: 10_000, distribution: null },
  };
  return {
    ...{ id, name: id, category: "exchange", symbol: "BTCUSDT", quote: "USDT", chain: null, official },
    rest: [endpoint("ticker"), endpoint("book")],
    socket: {
      url: `ws://${id}.venue:${venuePort}/`,
      keepAlive: { send: { kind: "none" }, replyWithinMs: null, deadAfterMs: 45_000 },
      ...{ maxConnectionMs: null, streams: [stream] },
    },
  };
}
