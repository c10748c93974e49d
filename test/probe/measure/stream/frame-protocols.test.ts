/** Venues that compress their frames, want their ping's value back, or take a list as a subscription. */
import { once } from "node:events";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import type { WebSocket } from "ws";
import { openSocket, type Down } from "../../../../probe/measure/stream/socket.js";
import { makeSubscription } from "../../../../probe/measure/stream/subscription.js";
import { makeResolver } from "../../../../probe/network/resolver.js";
import { mebibyte } from "../../../../shared/config/byte-units.js";
import type { FrameCompression, KeepAlive, Stream } from "../../../../shared/registry/registry.js";
import { keepAlive, listening, serveSockets, streams } from "../../../support/okx-server.js";
import { until } from "../../../support/until.js";

const compressors = { gzip: gzipSync, deflate: deflateSync, "deflate-raw": deflateRawSync };

async function opened(t: Test, compression: FrameCompression | undefined, talk: (ws: WebSocket) => void) {
  const { url } = await serveSockets(t, talk);
  const downs: Down[] = [];
  const heard: string[] = [];
  const socket = openSocket({
    ...{ url, compression, userAgent: "test", resolver: makeResolver([]), onOpen() {}, onHeard() {} },
    onMessage: (frame) => heard.push(frame.toString()),
    onDown: (down) => downs.push(down),
  });
  t.teardown(() => socket.close());
  return { downs, heard };
}

for (const compression of ["gzip", "deflate", "deflate-raw"] as const)
  void t.test(`binary frames in ${compression} are read, and text as it is`, async (t) => {
    const { heard } = await opened(t, compression, (ws) => {
      ws.send(compressors[compression](`{"ch":"market.btcusdt.trade"}`));
      ws.send(`{"plain":1}`);
      ws.send(Buffer.from("no compressed bytes"));
      ws.send(compressors[compression](`{"cut":"in the middle"}`).subarray(0, 15));
      ws.send(compressors[compression](""));
      ws.send(compressors[compression](`{"last":1}`));
    });
    await until(() => heard.some((frame) => frame.includes("last")));
    t.match(heard, { 0: `{"ch":"market.btcusdt.trade"}`, 1: `{"plain":1}`, 2: "no compressed bytes", length: 6 });
  });

void t.test("without compression in the entry, binary frames are JSON as they are", async (t) => {
  const { heard } = await opened(t, undefined, (ws) => ws.send(Buffer.from(`{"type":"MESSAGE"}`)));
  await until(() => heard.length === 1);
  t.strictSame(heard, [`{"type":"MESSAGE"}`]);
});

void t.test("a frame that grows beyond the limit ends the socket, and so do many that grow", async (t) => {
  const bomb = gzipSync(Buffer.alloc(200 * mebibyte, " "));
  const one = await opened(t, "gzip", (ws) => ws.send(bomb));
  await until(() => one.downs.length > 0);
  t.match(one.downs[0], { cause: { fault: "closed" }, detail: /4194304 bytes when it is decompressed/ });
  const large = gzipSync(Buffer.alloc(3 * mebibyte, " "));
  const many = await opened(t, "gzip", (ws) => {
    for (let i = 0; i < 100; i += 1) ws.send(large);
  });
  await until(() => many.downs.length > 0);
  t.match(many.downs[0], { cause: { fault: "closed" }, detail: /sends too much: more than \d+ bytes/ });
  t.ok(many.heard.length < 10, `${many.heard.length} frames were read`);
  const broken = await opened(t, "gzip", (ws) => {
    for (let i = 0; i < 100; i += 1) ws.send(large.subarray(0, -4));
  });
  await until(() => broken.downs.length > 0);
  t.match(broken.downs[0], { detail: /sends too much: more than \d+ bytes/ }, "also if none of them can be read");
});

const deep = `${"[".repeat(9_000)}${"]".repeat(9_000)}`;

const trades: Stream = { ...streams.find(({ name }) => name === "trades")!, match: { path: "$.tick" } };

void t.test("a ping's value comes back with its type, and nothing else is answered", async (t) => {
  for (const [path, message, ping, pong] of [
    ["$.ping", { pong: "{frame:$.ping}" }, { ping: 1_492_420_473_027 }, { pong: 1_492_420_473_027 }],
    [
      "$.method",
      { id: "{frame:$.id}", method: "public/respond-heartbeat" },
      { id: 'a"b{frame:$.id}', method: "public/heartbeat", code: 0 },
      { id: 'a"b{frame:$.id}', method: "public/respond-heartbeat" },
    ],
    [
      "$.ping",
      { pong: ["{frame:$.a['b c'][1]}", "{frame:$.none}", "{frame:$.deep}", "{frame:$.long}"] },
      { ping: 0, a: { "b c": [1, true] }, deep: JSON.parse(deep) as unknown, long: "x".repeat(300) },
      { pong: [true, null, null, null] },
    ],
  ] as const) {
    const heard: unknown[] = [];
    const { url } = await serveSockets(t, (ws) => {
      ws.on("message", (data: Buffer) => heard.push(JSON.parse(data.toString())));
      for (const frame of [{ other: 1 }, ping, { other: 2 }]) ws.send(gzipSync(textOf(frame)));
    });
    const echoing: KeepAlive = { ...keepAlive, send: { kind: "none" }, respond: { when: { path }, message } };
    listening(t, url, { keepAlive: echoing, compression: "gzip", subscriptions: [] });
    await until(() => heard.length > 0);
    t.strictSame(heard, [pong]);
  }
});

/** JSON.stringify would exhaust the stack. */
function textOf({ deep: nested, ...frame }: { deep?: unknown }): string {
  const text = JSON.stringify(frame);
  return nested === undefined ? text : `${text.slice(0, -1)},"deep":${deep}}`;
}

void t.test("a subscription that is a list is sent as it is", async (t) => {
  const subscribe = [{ ticket: "venuewatch" }, { type: "trade", codes: ["KRW-BTC"] }, { format: "DEFAULT" }];
  const { url, server } = await serveSockets(t, (ws) => {
    ws.on("message", (data: Buffer) => {
      if (data.toString() === JSON.stringify(subscribe)) ws.send(Buffer.from(`{"tick":1}`));
    });
  });
  const subscription = makeSubscription({ ...trades, subscribe });
  listening(t, url, { subscriptions: [subscription] });
  await once(server, "connection");
  await until(() => subscription.meter.isSubscribed());
  t.equal(subscription.trouble, null);
});
