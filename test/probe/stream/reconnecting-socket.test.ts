import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { WebSocketServer, type ServerOptions, type WebSocket } from "ws";
import { makeSubscription } from "../../../probe/stream/subscription.js";
import { startReconnectingSocket } from "../../../probe/stream/reconnecting-socket.js";
import { makeResolver } from "../../../probe/network/resolver.js";
import { makeLog } from "../../../shared/log/log.js";
import { type KeepAlive } from "../../../shared/registry/registry.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { acknowledge, listening, serveOkx } from "../../support/okx-server.js";
import { until } from "../../support/until.js";

const { venues } = await loadRegistry("registry.json");
const { keepAlive, streams } = venues.find(({ id }) => id === "okx")!.socket!;
const quiet = makeLog("test", "error", () => {});

/** Soon gives up a socket that answers nothing. */
const impatient: KeepAlive = {
  send: { kind: "text", everyMs: 2000, text: "ping" },
  replyWithinMs: 100,
  deadAfterMs: null,
};

void t.test("a subscription that a renewed socket refuses stays refused when it takes over", async (t) => {
  const url = await serveRefusing(t, "trades");
  const resolver = makeResolver([]);
  const feeds = streams.map(makeSubscription);
  const begunMs = performance.now();
  const line = startReconnectingSocket({
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
});

void t.test("a failed renewal loses nothing, and a successful one loses no frame and shows no gap", async (t) => {
  const timers = new Set<NodeJS.Timeout>();
  t.teardown(() => timers.forEach(clearInterval));
  let renewals = 0;
  const { url } = await serveOkx(t, (ws, arg, place) => {
    renewals = place;
    if (place === 1) return ws.terminate();
    acknowledge(ws, arg);
    // Both sockets deliver, each with its own numbering.
    let seq = place * 1000;
    const timer = setInterval(() => {
      ws.send(JSON.stringify({ arg, seq: (seq += 1), data: [] }));
    }, 50);
    timers.add(timer);
    ws.once("close", () => clearInterval(timer));
  });
  const feeds = streams.map((stream) => makeSubscription({ ...stream, sequence: { kind: "counter", path: "$.seq" } }));
  const { line } = listening(t, url, { feeds, maxConnectionMs: 2000 });
  await until(() => feeds.every(({ meter }) => meter.isSubscribed()));
  const first = line.opened();
  const begunMs = performance.now();
  for (const { meter } of feeds) meter.read(begunMs, 1);
  const stayedUp = () => line.down() === null && feeds.every(({ meter }) => meter.isSubscribed());
  let wasDown = false;
  await until(() => {
    wasDown ||= !stayedUp();
    return renewals === 1;
  });
  t.equal(line.opened(), first, "the old socket stays in use");
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
    t.ok(messages <= usual * 1.15 + 3, `${messages} messages, ${usual} usual: none counts twice`);
    t.ok(quietMs < (nowMs - begunMs) / 2, "no silence of a renewal's length");
  }
});

void t.test(
  "a renewal loses no frame of a slow stream and counts none twice, with the new socket ahead or behind",
  async (t) => {
    await Promise.all([-20, 20].map((aheadMs) => renewing(t, aheadMs)));
  },
);

void t.test("a venue whose sockets open but stay mute is down until one shows a sign of life", async (t) => {
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
  const { line, feeds } = listening(t, url, { keepAlive: impatient, patience: { speakWithinMs: 200 } });
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
  t.notOk(seemedUp, "two sockets that open and stay mute do not end the fault");
  await until(() => line.opened() !== null);
  t.equal(line.down(), null, "a pong is a sign of life");
});

void t.test("a mute socket stays down after a silence and an attempt that did not open", async (t) => {
  let attempts = 0;
  const { url, asked } = await serveMute(t, {
    verifyClient(_info, answer) {
      attempts += 1;
      answer(attempts !== 2, 503);
    },
  });
  const { line } = listening(t, url, { keepAlive: impatient });
  await until(() => asked.length === 2);
  t.equal(attempts, 3);
  t.equal(line.opened(), null);
  t.not(line.down(), null);
  asked[1]!.pong();
  await until(() => line.opened() !== null);
  t.equal(line.down(), null);
});

void t.test("a mute socket stays down after another mute one that the venue closed", async (t) => {
  const { url, asked } = await serveMute(t);
  const { line } = listening(t, url, { keepAlive: impatient });
  await until(() => asked.length === 2);
  asked[1]!.close();
  await until(() => asked.length === 3);
  t.equal(line.opened(), null);
  t.same(line.down(), { fault: "closed" });
  asked[2]!.pong();
  await until(() => line.opened() !== null);
  t.equal(line.down(), null);
});

void t.test(
  "a renewal that is open but mute when the old socket falls silent is down until it shows a sign of life",
  async (t) => {
    const { url, asked } = await serveMute(t);
    const { line } = listening(t, url, { keepAlive: impatient, maxConnectionMs: 2000 });
    await until(() => asked.length === 1);
    const first = line.opened();
    await until(() => asked.length === 2);
    t.equal(line.opened(), first, "the old socket is not given up yet");
    await until(() => line.down() !== null || ![first, null].includes(line.opened()));
    t.equal(line.opened(), null);
    t.same(line.down(), { fault: "timeout" });
    asked[1]!.pong();
    await until(() => line.opened() !== null);
    t.equal(line.down(), null);
    t.equal(asked.length, 2, "the renewal took over");
  },
);

void t.test(
  "a renewal still connecting when the old socket falls silent is pinged, and given up without an answer",
  async (t) => {
    const upgrades: (() => void)[] = [];
    const { url, server, asked } = await serveMute(t, {
      verifyClient(_info, answer) {
        upgrades.push(() => answer(true));
        if (upgrades.length === 1) answer(true);
      },
    });
    const did: string[] = [];
    server.on("connection", (ws) => {
      ws.on("ping", () => did.push("pinged"));
      ws.on("close", () => did.push("closed"));
    });
    const { line } = listening(t, url, {
      keepAlive: impatient,
      maxConnectionMs: 2000,
      patience: { speakWithinMs: 500 },
    });
    await until(() => upgrades.length === 2 && line.down() !== null);
    t.same(line.down(), { fault: "timeout" });
    await until(() => did.length > 0);
    t.same(did, ["closed"], "the old socket was closed");
    upgrades[1]!();
    await until(() => asked.length === 2);
    t.equal(line.opened(), null);
    await until(() => did.length === 3);
    t.same(did.slice(1), ["pinged", "closed"]);
    t.equal(line.opened(), null);
    t.same(line.down(), { fault: "timeout" });
  },
);

void t.test("a mute renewal does not replace the old socket, but one that answers only a ping does", async (t) => {
  const { url, server, asked } = await serveMute(t);
  const closed: number[] = [];
  let places = 0;
  server.on("connection", (ws) => {
    const place = (places += 1);
    if (place === 3) ws.on("ping", () => ws.pong());
    ws.on("close", () => closed.push(place));
  });
  const { line } = listening(t, url, { maxConnectionMs: 2000, patience: { speakWithinMs: 1000, overlapMs: 500 } });
  await until(() => asked.length === 1);
  const first = line.opened();
  let wasDown = false;
  await until(() => {
    wasDown ||= line.opened() === null || line.down() !== null;
    return closed.length > 0;
  }, 20_000);
  t.same(closed, [2]);
  t.equal(line.opened(), first);
  await until(() => {
    wasDown ||= line.opened() === null || line.down() !== null;
    return closed.length > 1;
  });
  t.same(closed, [2, 1]);
  t.notOk(wasDown);
});

/**
 * An OKX that acknowledges the subscriptions of its first socket, and then sends nothing unprompted; `asked` gives the
 * test its sockets.
 */
async function serveMute(t: Test, more: ServerOptions = {}) {
  const asked: WebSocket[] = [];
  const { url, server } = await serveOkx(
    t,
    (ws, arg, place) => {
      asked[place] = ws;
      if (place === 0) acknowledge(ws, arg);
    },
    { autoPong: false, ...more },
  );
  return { url, server, asked };
}

/**
 * Two renewals of a socket with a stream of two frames a second; the newer socket sends each frame this much earlier.
 */
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
  const feed = makeSubscription(streams[0]!);
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

/**
 * An OKX that refuses one channel on every socket but the first, and closes the first once another has sent all
 * subscriptions.
 */
async function serveRefusing(t: Test, channel: string): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  const sockets: WebSocket[] = [];
  server.on("connection", (ws) => {
    const place = sockets.push(ws) - 1;
    let asked = 0;
    ws.on("message", (data: Buffer) => {
      if (!data.includes("subscribe")) return;
      const [arg] = (JSON.parse(data.toString()) as { args: { channel: string }[] }).args;
      asked += 1;
      if (place > 0 && arg!.channel === channel) ws.send(JSON.stringify({ event: "error", code: "60018", arg }));
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
