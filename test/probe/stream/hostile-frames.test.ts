import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { WebSocketServer, type WebSocket } from "ws";
import { makeSubscription } from "../../../probe/stream/subscription.js";
import { startReconnectingSocket } from "../../../probe/stream/reconnecting-socket.js";
import { refusedFeed } from "../../../probe/stream/refusal.js";
import { refusalWords } from "../../../probe/stream/refusal-words.js";
import { makeResolver } from "../../../probe/network/resolver.js";
import { startSession } from "../../../probe/stream/session.js";
import type { Down } from "../../../probe/stream/socket-ending.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { listeningLog } from "../../support/listening-log.js";
import { until } from "../../support/until.js";

const { venues } = await loadRegistry("registry.json");
const { keepAlive, streams } = venues.find(({ id }) => id === "okx")!.socket!;
const resolver = makeResolver([]);

const deep = "[".repeat(200_000) + "]".repeat(200_000);
const deepFields = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;

/** Frames that break a program which trusts their shape. */
const hostile = [
  `{"event":{"toString":null,"valueOf":null}}`,
  `{"type":{"toString":null}}`,
  `{"event":${deep}}`,
  `{"type":${deepFields}}`,
  `{"error":1,"arg":${deep}}`,
  `{"error":1,"arg":{"channel":${deep},"instId":"BTC-USDT"}}`,
  `{"error":1,"id":${deep}}`,
  `{"error":1,"channel":{"toString":null},"feed":${deepFields}}`,
  `{"__proto__":{"error":1},"constructor":null,"hasOwnProperty":1}`,
  `{"error":{"__proto__":null},"arg":{"__proto__":null}}`,
  `{"status":1e400,"id":1e400,"arg":-1e400}`,
  `{"event":"subscribed","channel":"tickers","chanId":${deep}}`,
  `{"event":"subscribed","channel":{"toString":null},"chanId":{}}`,
  `{"arg":{"channel":${deep}},"data":[{"ts":${deep}}]}`,
  `{"arg":{"channel":"trades"},"data":[{"ts":{"toString":null}}]}`,
  `{"arg":{"channel":"trades"},"data":[{"ts":"1e400"},{"ts":1e308}]}`,
  `{"arg":{"channel":"trades"},"data":[{"ts":${"9".repeat(100_000)}}]}`,
  `{"arg":{"channel":"books5"},"arg":{"channel":"trades"},"data":[],"data":null}`,
  deep,
  deepFields,
];

/** Invalid JSON of any kind is skipped. */
const malformed = [
  deep.slice(1),
  deepFields.slice(0, -1),
  "[".repeat(200_000),
  `{"arg":{"channel":"trades","instId":"BTC-USDT"},"data":[{"ts":"1`,
  `{"event":"error","arg":{"channel":"trades","instId":"BTC-USDT"}`,
  Buffer.from([0x22, 0xc3, 0x28, 0x22]),
  Buffer.from([0xff, 0xfe, 0x7b, 0x7d]),
  "\ufeff{}",
  "pong",
  "",
];

/** As long as a control frame that is read may be, and as deep as that allows. */
const deepRefusals = [
  `{"event":"error","arg":${"[".repeat(30_000)}${"]".repeat(30_000)}}`,
  `${'{"error":'.repeat(6_000)}1${"}".repeat(6_000)}`,
];

for (const text of deepRefusals)
  void t.test(`a refusal ${text.slice(0, 40)} gets a readable reason`, (t) => {
    const words = refusalWords(JSON.parse(text));
    t.ok(words.length > 0 && words.length <= 200, words);
    t.end();
  });

for (const text of hostile)
  void t.test(`a frame ${text.slice(0, 60)} names no stream`, (t) => {
    const feeds = streams.map(makeSubscription);
    t.equal(refusedFeed(JSON.parse(text), feeds, feeds), null);
    t.end();
  });

void t.test("refusals are still assigned to the streams that they name", (t) => {
  const feeds = streams.map(makeSubscription);
  for (const feed of feeds) {
    const { args } = feed.stream.subscribe as { args: unknown[] };
    const [arg] = structuredClone(args);
    t.equal(refusedFeed({ event: "error", arg }, feeds, feeds), feed);
    t.equal(refusedFeed({ type: "x:error", arg }, feeds, feeds), feed);
    t.equal(refusedFeed({ event: "terror", arg }, feeds, feeds), null);
  }
  const other = { channel: "trades", instId: "OTHER" };
  t.equal(refusedFeed({ event: "error", arg: other }, feeds, feeds), null);
  t.end();
});

void t.test("a socket survives hostile frames, and later frames are understood", async (t) => {
  const { url, sockets, asked } = await serve(t);
  const { log, lines } = listeningLog();
  const feeds = streams.map(makeSubscription);
  const line = startReconnectingSocket({
    ...{ url, keepAlive, feeds, resolver, log, maxConnectionMs: null },
    openAfterMs: 0,
    userAgent: "test",
  });
  t.teardown(() => line.close());
  await until(() => asked() === streams.length);
  let answered = false;
  sockets[0]!.on("pong", () => (answered = true));
  for (const frame of [...hostile, ...malformed]) sockets[0]!.send(frame);
  sockets[0]!.ping();
  await until(() => answered);
  t.ok(line.opened());
  t.same(lines, []);
});

void t.test("a frame that triggers a bug closes only its socket, and is logged", async (t) => {
  const { url, sockets, asked } = await serve(t);
  const { log, lines } = listeningLog();
  let down: Down | undefined;
  const session = startSession({
    ...{ url, keepAlive, resolver, log, feeds: streams.map(makeSubscription) },
    userAgent: "test",
    onOpen: () => {},
    onServed: () => {},
    onData: () => {},
    onTrouble() {
      throw new Error("a bug");
    },
    onDown: (_session, told) => (down = told),
  });
  t.teardown(() => session.close());
  await until(() => asked() > 0);
  sockets[0]!.send(`{"event":"error"}`);
  await until(() => down !== undefined);
  t.same(down!.cause, { unmeasured: "broken" });
  t.match(lines.join(""), /error test: .*bug of the probe.*a bug/);
});

async function serve(t: Test) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  const sockets: WebSocket[] = [];
  let asked = 0;
  server.on("connection", (ws) => {
    sockets.push(ws);
    ws.on("message", (data: Buffer) => {
      if (data.includes("subscribe")) asked += 1;
    });
  });
  await new Promise((listening) => server.once("listening", listening));
  t.teardown(() => {
    for (const ws of server.clients) ws.terminate();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `ws://127.0.0.1:${port}`, sockets, asked: () => asked };
}
