import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { WebSocketServer, type WebSocket } from "ws";
import { makeFeed } from "../probe/feed.js";
import { startLine } from "../probe/line.js";
import { makeResolver } from "../probe/resolver.js";
import { makeLog } from "../server/log.js";
import { loadRegistry } from "../server/registry.js";
import { acknowledge, listening, serveOkx } from "./okx-server.js";
import { until } from "./until.js";

const { venues } = await loadRegistry("registry.json");
const { keepAlive, streams } = venues.find(({ id }) => id === "okx")!.socket!;
const quiet = makeLog("test", "error", () => {});

void t.test(
  "a subscription that a renewed socket refuses stays refused when it takes over",
  async (t) => {
    const url = await serveRefusing(t, "trades");
    const resolver = makeResolver([]);
    const feeds = streams.map(makeFeed);
    const begunMs = performance.now();
    const line = startLine({
      ...{ url, keepAlive, feeds, log: quiet },
      maxConnectionMs: 3000,
      openAfterMs: 0,
      userAgent: "test",
      resolver,
    });
    t.teardown(() => line.close());
    const trades = feeds.find(({ stream }) => stream.name === "trades")!;
    await until(() => line.opened() !== null);
    const first = line.opened();
    t.equal(trades.trouble, null);
    const way = await resolver.wayOut("other.test", begunMs - 1000);
    t.equal(way, "open", "an open socket is a way out");
    await until(() => line.opened() !== first);
    t.ok(line.opened(), "the renewed socket has taken over");
    t.same(
      feeds.filter(({ trouble }) => trouble?.kind === "refused"),
      [trades],
    );
  },
);

void t.test(
  "a renewal that fails costs nothing, and one that succeeds no frame and no number",
  async (t) => {
    const timers = new Set<NodeJS.Timeout>();
    t.teardown(() => timers.forEach(clearInterval));
    let renewals = 0;
    const { url } = await serveOkx(t, (ws, arg, place) => {
      renewals = place;
      if (place === 1) return ws.terminate();
      acknowledge(ws, arg);
      // Both sockets deliver, each by numbers of its own.
      let seq = place * 1000;
      const timer = setInterval(() => {
        ws.send(JSON.stringify({ arg, seq: (seq += 1), data: [] }));
      }, 50);
      timers.add(timer);
      ws.once("close", () => clearInterval(timer));
    });
    const feeds = streams.map((stream) =>
      makeFeed({ ...stream, sequence: { kind: "counter", path: "$.seq" } }),
    );
    const { line } = listening(t, url, { feeds, maxConnectionMs: 2000 });
    await until(() => feeds.every(({ meter }) => meter.isSubscribed()));
    const first = line.opened();
    const begunMs = performance.now();
    for (const { meter } of feeds) meter.read(begunMs, 1);
    const stayedUp = () =>
      line.down() === null && feeds.every(({ meter }) => meter.isSubscribed());
    let wasDown = false;
    await until(() => {
      wasDown ||= !stayedUp();
      return renewals === 1;
    });
    t.equal(line.opened(), first, "the old socket goes on");
    await until(() => {
      wasDown ||= !stayedUp();
      return line.opened() !== first;
    });
    t.notOk(wasDown);
    await new Promise((passed) => setTimeout(passed, 200));
    const nowMs = performance.now();
    for (const { meter } of feeds) {
      const { messages, gaps, quietMs } = meter.read(nowMs, nowMs - begunMs)!;
      t.equal(gaps, 0);
      const usual = (nowMs - begunMs) / 50;
      t.ok(messages <= usual * 1.15 + 3, `${messages} of ${usual}: none twice`);
      t.ok(quietMs < (nowMs - begunMs) / 2, "no silence of a renewal's length");
    }
  },
);

void t.test(
  "a renewal loses no frame of a slow stream and counts none twice, be the new socket ahead or behind",
  async (t) => {
    await Promise.all([-20, 20].map((aheadMs) => renewing(t, aheadMs)));
  },
);

void t.test(
  "a venue whose sockets open and stay mute is down until one of them brings a frame",
  async (t) => {
    let opened = 0;
    const { url, server } = await serveOkx(
      t,
      (ws, arg, place) => {
        if (place === 0) acknowledge(ws, arg);
      },
      { autoPong: false },
    );
    server.on("connection", (ws) => {
      opened += 1;
      if (opened === 4) ws.on("ping", () => ws.pong());
    });
    const { line, feeds } = listening(t, url, {
      keepAlive: {
        send: { kind: "text", everyMs: 2000, text: "ping" },
        replyWithinMs: 100,
        deadAfterMs: null,
      },
      patience: { speakWithinMs: 200 },
    });
    await until(() => feeds.every(({ meter }) => meter.isSubscribed()));
    await until(() => line.down() !== null);
    t.same(line.down(), { fault: "timeout" });

    let seemedUp = false;
    await until(() => {
      if (opened < 4)
        seemedUp ||=
          line.down() === null ||
          line.opened() !== null ||
          feeds.some(({ meter, fall }) => meter.isSubscribed() || !fall);
      return opened >= 4;
    }, 20_000);
    t.notOk(
      seemedUp,
      "two sockets that opened and said nothing change nothing",
    );
    await until(() => line.opened() !== null);
    t.equal(line.down(), null, "a pong is a sign of life");
  },
);

/** Two renewals of a socket with a stream that speaks twice a second, each frame by the newer socket so much earlier. */
async function renewing(t: Test, aheadMs: number) {
  const heard = new Set<WebSocket>();
  let places = 0;
  let sent = 0;
  let speaking = 0;
  const { url } = await serveOkx(t, (ws, arg, place) => {
    acknowledge(ws, arg);
    heard.add(ws);
    places = place;
    const send = () => ws.send(JSON.stringify({ arg, data: [{}] }));
    const lateMs = 100 - place * aheadMs;
    ws.on("speak", () => {
      speaking += 1;
      setTimeout(() => {
        speaking -= 1;
        send();
      }, lateMs);
    });
  });
  const timer = setInterval(() => {
    if (heard.size === 0) return;
    sent += 1;
    for (const ws of heard) if (ws.readyState === ws.OPEN) ws.emit("speak");
  }, 500);
  t.teardown(() => clearInterval(timer));
  const feed = makeFeed(streams[0]!);
  const { meter } = feed;
  let counted = 0;
  feed.meter = {
    ...meter,
    frame(...told) {
      counted += 1;
      meter.frame(...told);
    },
  };
  const { line } = listening(t, url, { feeds: [feed], maxConnectionMs: 2000 });
  await until(() => places >= 2 && sent >= 5, 20_000);
  clearInterval(timer);
  await until(() => speaking === 0);
  await new Promise((passed) => setTimeout(passed, 300));
  t.ok(line.opened());
  t.equal(counted, sent, `with ${aheadMs} ms`);
}

/** An OKX that refuses one channel on every socket but the first, and closes that once all was asked on another. */
async function serveRefusing(t: Test, channel: string): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  const sockets: WebSocket[] = [];
  server.on("connection", (ws) => {
    const place = sockets.push(ws) - 1;
    let asked = 0;
    ws.on("message", (data: Buffer) => {
      if (!data.includes("subscribe")) return;
      const [arg] = (
        JSON.parse(data.toString()) as { args: { channel: string }[] }
      ).args;
      asked += 1;
      if (place > 0 && arg!.channel === channel)
        ws.send(JSON.stringify({ event: "error", code: "60018", arg }));
      if (place > 0 && asked === streams.length) sockets[0]!.close();
    });
  });
  await new Promise((listening) => server.once("listening", listening));
  t.teardown(() => {
    for (const ws of server.clients) ws.terminate();
    server.close();
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
