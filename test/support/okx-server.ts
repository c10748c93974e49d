/** An OKX server for tests of behaviour that the world does not have. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import { WebSocketServer, type ServerOptions, type WebSocket } from "ws";
import { makeSubscription, type Subscription } from "../../probe/stream/subscription.js";
import {
  startReconnectingSocket,
  type ReconnectingSocket,
  type ReconnectingSocketOptions,
} from "../../probe/stream/reconnecting-socket.js";
import { makeResolver } from "../../probe/network/resolver.js";
import { makeLog } from "../../shared/log/log.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";

const { venues } = await loadRegistry("registry.json");
export const { keepAlive, streams } = venues.find(({ id }) => id === "okx")!.socket!;
const quiet = makeLog("test", "error", () => {});

export interface Arg {
  channel: string;
}

/** @param onSubscribe called for each subscription; `place` counts the sockets */
export async function serveOkx(
  t: Test,
  onSubscribe: (ws: WebSocket, arg: Arg, place: number) => void,
  more: ServerOptions = {},
): Promise<{ url: string; server: WebSocketServer }> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", ...more });
  let place = -1;
  server.on("connection", (ws) => {
    const here = (place += 1);
    ws.on("error", () => {});
    ws.on("message", (data: Buffer) => {
      if (!data.includes("subscribe")) return;
      const { args } = JSON.parse(data.toString()) as { args: Arg[] };
      onSubscribe(ws, args[0]!, here);
    });
  });
  await once(server, "listening");
  t.teardown(() => {
    for (const ws of server.clients) ws.terminate();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `ws://127.0.0.1:${port}`, server };
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
export function listening(
  t: Test,
  url: string,
  more: Partial<ReconnectingSocketOptions> = {},
): { line: ReconnectingSocket; feeds: Subscription[]; feed: (name: string) => Subscription } {
  const feeds = (more.feeds ?? streams.map(makeSubscription)) as Subscription[];
  const line = startReconnectingSocket({
    ...{ url, keepAlive, feeds, maxConnectionMs: null, openAfterMs: 0 },
    ...{ userAgent: "test", resolver: makeResolver([]), log: quiet },
    ...more,
  });
  t.teardown(() => line.close());
  const feed = (name: string) => feeds.find(({ stream }) => stream.name === name)!;
  return { line, feeds, feed };
}
