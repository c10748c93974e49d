/** An OKX server for tests of behaviour that the world does not have. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import { WebSocketServer, type ServerOptions, type WebSocket } from "ws";
import { makeSubscription, type Subscription } from "../../probe/measure/stream/subscription.js";
import {
  startReconnectingSocket,
  type ReconnectingSocketOptions,
} from "../../probe/measure/stream/reconnecting-socket.js";
import { startStreams, type StreamsOptions } from "../../probe/measure/stream/stream.js";
import { makeResolver } from "../../probe/network/resolver.js";
import { makeLog } from "../../shared/log/log.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import type { Venue } from "../../shared/registry/registry.js";

export const registry = await loadRegistry("registry/exchanges.json");
export const okx = registry.venues.find(({ id }) => id === "okx")!;
export const { keepAlive, streams } = okx.socket!;
const quiet = makeLog("test", "error", () => {});

export interface Arg {
  channel: string;
}

/** Ends with the test, including its sockets. */
export async function serveSockets(t: Test, talk: (ws: WebSocket) => void, more: ServerOptions = {}) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", ...more });
  server.on("connection", (ws) => {
    ws.on("error", () => {});
    talk(ws);
  });
  await once(server, "listening");
  t.teardown(() => {
    for (const ws of server.clients) ws.terminate();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `ws://127.0.0.1:${port}`, server };
}

type OnSubscribe = (ws: WebSocket, arg: Arg, place: number) => void;

/** @param onSubscribe called for each subscription; `place` counts the sockets */
export function serveOkx(t: Test, onSubscribe: OnSubscribe, more: ServerOptions = {}) {
  let sockets = 0;
  const talk = (ws: WebSocket) => {
    const place = sockets++;
    ws.on("message", (data: Buffer) => {
      if (!data.includes("subscribe")) return;
      const { args } = JSON.parse(data.toString()) as { args: Arg[] };
      onSubscribe(ws, args[0]!, place);
    });
  };
  return serveSockets(t, talk, more);
}

export function acknowledge(ws: WebSocket, arg: Arg): void {
  ws.send(JSON.stringify({ event: "subscribe", arg, connId: "a4d3ae55" }));
}

export function refuse(ws: WebSocket, arg: Arg): void {
  ws.send(JSON.stringify({ event: "error", code: "60018", arg }));
}

export function sendData(ws: WebSocket, arg: Arg, ts = Date.now()): void {
  ws.send(JSON.stringify({ arg, data: [{ ts: String(ts) }] }));
}

/** Opens one line to a server, with OKX's streams. */
export function listening(t: Test, url: string, more: Partial<ReconnectingSocketOptions> = {}) {
  const subscriptions = (more.subscriptions ?? streams.map(makeSubscription)) as Subscription[];
  const line = startReconnectingSocket({
    ...{ url, keepAlive, subscriptions, maxConnectionMs: null, openAfterMs: 0 },
    ...{ userAgent: "test", resolver: makeResolver([]), log: quiet },
    ...more,
  });
  t.teardown(() => line.close());
  const subscription = (name: string) => subscriptions.find(({ stream }) => stream.name === name)!;
  return { line, subscriptions, subscription };
}

/** Measures a venue's streams without the rest of a probe. */
export function measuringStreams(t: Test, venue: Venue, more: Partial<StreamsOptions> = {}) {
  const started = startStreams({
    ...{ venue, socket: venue.socket!, openAfterMs: 0 },
    ...{ userAgent: "test", resolver: makeResolver([]), log: quiet },
    clock: { read: () => null },
    watch: { stalledSince: () => false },
    ...more,
  });
  t.teardown(() => started.close());
  const { signal } = new AbortController();
  const measure = async (component: string) =>
    started.tasks.find((task) => task.component === component)!.measure(new Date(), signal);
  return { measure, socketsOpen: started.socketsOpen };
}
