import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import type { ServerOptions, WebSocket } from "ws";
import { makeSubscription } from "../../../../probe/measure/stream/subscription.js";
import type { ReconnectingSocket } from "../../../../probe/measure/stream/reconnecting-socket.js";
import { makeResolver } from "../../../../probe/network/resolver.js";
import type { KeepAlive } from "../../../../shared/registry/registry.js";
import { acknowledge, listening, refuse, serveOkx, streams, type Arg } from "../../../support/okx-server.js";
import { until } from "../../../support/until.js";

/** Soon gives up on a socket that answers nothing. */
const impatient: KeepAlive = {
  send: { kind: "text", everyMs: 2000, text: "ping" },
  ...{ replyWithinMs: 100, deadAfterMs: null },
};

void t.test("a subscription that a renewed socket refuses stays refused when it takes over", async (t) => {
  const sockets: WebSocket[] = [];
  let renewed = 0;
  // The first socket closes once another has sent all subscriptions.
  const { url } = await serveOkx(t, (ws, arg, place) => {
    sockets[place] = ws;
    if (place === 0) return;
    if (arg.channel === "trades") refuse(ws, arg);
    renewed += 1;
    if (renewed === streams.length) sockets[0]!.close();
  });
  const resolver = makeResolver([]);
  const startMs = performance.now();
  const { line, subscriptions, subscription } = listening(t, url, { resolver, maxConnectionMs: 3000 });
  await until(() => line.opened() !== null);
  const first = line.opened();
  t.equal(subscription("trades").trouble, null);
  t.equal(await resolver.wayOut("other.test", startMs - 1000), "open", "an open socket is a way out");
  await until(() => line.opened() !== first);
  t.ok(line.opened(), "the renewed socket has taken over");
  for (const one of subscriptions) t.equal(one.trouble?.kind === "refused", one === subscription("trades"));
});

void t.test("a failed renewal loses nothing, and a successful one loses no frame and shows no gap", async (t) => {
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
    ws.once("close", () => clearInterval(timer));
  });
  const subscriptions = streams.map((stream) =>
    makeSubscription({ ...stream, sequence: { kind: "counter", path: "$.seq" } }),
  );
  const { line } = listening(t, url, { subscriptions, maxConnectionMs: 2000 });
  await until(() => subscriptions.every(({ meter }) => meter.isSubscribed()));
  const first = line.opened();
  const startMs = performance.now();
  for (const { meter } of subscriptions) meter.read(startMs, 1);
  const isUp = () => isOpen(line) && subscriptions.every(({ meter }) => meter.isSubscribed());
  t.ok(await holdsUntil(isUp, () => renewals === 1));
  t.equal(line.opened(), first, "the old socket stays in use");
  t.ok(await holdsUntil(isUp, () => line.opened() !== first));
  await sleep(200);
  const nowMs = performance.now();
  for (const { meter } of subscriptions) {
    const { isWhole, messages, gaps, quietMs } = meter.read(nowMs, nowMs - startMs)!;
    t.ok(isWhole, "the stream was subscribed all the time");
    t.equal(gaps, 0);
    const usual = (nowMs - startMs) / 50;
    t.ok(messages <= usual * 1.15 + 3, `${messages} messages, ${usual} usual: none counts twice`);
    t.ok(quietMs < (nowMs - startMs) / 2, "no silence of a renewal's length");
  }
});

void t.test("a renewal loses no frame and counts none twice, with the new socket ahead or behind", async (t) => {
  await Promise.all([-20, 20].map((aheadMs) => renewTwice(t, aheadMs)));
});

void t.test("a venue whose sockets open but stay mute is down until one shows a sign of life", async (t) => {
  let opened = 0;
  const { url, server } = await serveMute(t);
  server.on("connection", (ws) => {
    opened += 1;
    // a pong is a sign of life
    if (opened === 4) ws.on("ping", () => ws.pong());
  });
  const { line, subscriptions } = listening(t, url, { keepAlive: impatient, patience: { speakWithinMs: 200 } });
  await until(() => subscriptions.every(({ meter }) => meter.isSubscribed()));
  await until(() => line.down() !== null);
  t.same(line.down(), { fault: "timeout" });

  const isDown = () =>
    line.down() !== null && !line.opened() && subscriptions.every(({ meter, fall }) => !meter.isSubscribed() && fall);
  const isOver = () => opened >= 4;
  const staysDown = await holdsUntil(() => isOver() || isDown(), isOver);
  t.ok(staysDown, "two sockets that open and stay mute do not end the fault");
  await comesUpAgain(t, line);
});

for (const [what, isRefused, cause] of [
  ["an attempt that did not open", true, { fault: "handshake", httpStatus: 503 }],
  ["another mute one that the venue closed", false, { fault: "closed" }],
] as const)
  void t.test(`a mute socket stays down after ${what}`, async (t) => {
    let attempts = 0;
    const { url, sockets } = await serveMute(t, {
      verifyClient(_info, answer) {
        attempts += 1;
        answer(!isRefused || attempts !== 2, 503);
      },
    });
    const { line } = listening(t, url, { keepAlive: impatient });
    await until(() => sockets.length === 2);
    if (!isRefused) sockets[1]!.close();
    await until(() => attempts === 3 && sockets.length === (isRefused ? 2 : 3));
    t.equal(line.opened(), null);
    t.same(line.down(), cause);
    sockets.at(-1)!.pong();
    await comesUpAgain(t, line);
  });

void t.test("a mute renewal is down after the old socket fell silent, until it shows a sign of life", async (t) => {
  const { url, sockets } = await serveMute(t);
  const { line } = listening(t, url, { keepAlive: impatient, maxConnectionMs: 2000 });
  await until(() => sockets.length === 1);
  const first = line.opened();
  await until(() => sockets.length === 2);
  t.equal(line.opened(), first, "the old socket is not given up yet");
  await until(() => line.down() !== null || ![first, null].includes(line.opened()));
  t.equal(line.opened(), null);
  t.same(line.down(), { fault: "timeout" });
  sockets[1]!.pong();
  await comesUpAgain(t, line);
  t.equal(sockets.length, 2, "the renewal took over");
});

void t.test("a renewal that connects after the old socket fell silent is pinged, and then given up", async (t) => {
  const upgrades: (() => void)[] = [];
  const { url, server, sockets } = await serveMute(t, {
    verifyClient(_info, answer) {
      upgrades.push(() => answer(true));
      if (upgrades.length === 1) answer(true);
    },
  });
  const events: string[] = [];
  server.on("connection", (ws) => {
    ws.on("ping", () => events.push("pinged"));
    ws.on("close", () => events.push("closed"));
  });
  const patience = { speakWithinMs: 500 };
  const { line } = listening(t, url, { keepAlive: impatient, maxConnectionMs: 2000, patience });
  await until(() => upgrades.length === 2 && line.down() !== null);
  t.same(line.down(), { fault: "timeout" });
  await until(() => events.length > 0);
  t.same(events, ["closed"], "the old socket was closed");
  upgrades[1]!();
  await until(() => sockets.length === 2);
  t.equal(line.opened(), null);
  await until(() => events.length === 3);
  t.same(events.slice(1), ["pinged", "closed"]);
  t.equal(line.opened(), null);
  t.same(line.down(), { fault: "timeout" });
});

void t.test("a mute renewal does not replace the old socket, but one that answers only a ping does", async (t) => {
  const { url, server, sockets } = await serveMute(t);
  const closed: number[] = [];
  let places = 0;
  server.on("connection", (ws) => {
    const place = (places += 1);
    if (place === 3) ws.on("ping", () => ws.pong());
    ws.on("close", () => closed.push(place));
  });
  const { line } = listening(t, url, { maxConnectionMs: 2000, patience: { speakWithinMs: 1000, overlapMs: 500 } });
  await until(() => sockets.length === 1);
  const first = line.opened();
  const isUp = () => isOpen(line);
  t.ok(await holdsUntil(isUp, () => closed.length > 0));
  t.same(closed, [2]);
  t.equal(line.opened(), first);
  t.ok(await holdsUntil(isUp, () => closed.length > 1));
  t.same(closed, [2, 1]);
});

/** @returns whether the state lasts until the event, and still holds then */
async function holdsUntil(state: () => boolean, event: () => boolean): Promise<boolean> {
  let holds = true;
  await until(() => {
    holds &&= state();
    return event();
  }, 20_000);
  return holds;
}

function isOpen(line: ReconnectingSocket): boolean {
  return line.opened() !== null && line.down() === null;
}

async function comesUpAgain(t: Test, line: ReconnectingSocket) {
  await until(() => line.opened() !== null);
  t.equal(line.down(), null);
}

/** An OKX that acknowledges the subscriptions of its first socket, and then sends nothing unprompted. */
async function serveMute(t: Test, more: ServerOptions = {}) {
  const sockets: WebSocket[] = [];
  const { url, server } = await serveOkx(
    t,
    (ws, arg, place) => {
      sockets[place] = ws;
      if (place === 0) acknowledge(ws, arg);
    },
    { autoPong: false, ...more },
  );
  return { url, server, sockets };
}

/** Renews a socket twice, with two frames a second; the newer socket sends each frame this much earlier. */
async function renewTwice(t: Test, aheadMs: number) {
  const served: { ws: WebSocket; arg: Arg; lateMs: number }[] = [];
  const { url } = await serveOkx(t, (ws, arg, place) => {
    acknowledge(ws, arg);
    served.push({ ws, arg, lateMs: 100 - place * aheadMs });
  });
  let sent = 0;
  let inFlight = 0;
  const timer = setInterval(() => {
    if (served.length > 0) sent += 1;
    for (const { ws, arg, lateMs } of served) {
      if (ws.readyState !== ws.OPEN) continue;
      inFlight += 1;
      setTimeout(() => {
        inFlight -= 1;
        ws.send(JSON.stringify({ arg, data: [{}] }));
      }, lateMs);
    }
  }, 500);
  t.teardown(() => clearInterval(timer));
  const subscription = makeSubscription(streams[0]!);
  const { meter } = subscription;
  let counted = 0;
  subscription.meter = {
    ...meter,
    frame(...args) {
      counted += 1;
      meter.frame(...args);
    },
  };
  const { line } = listening(t, url, { subscriptions: [subscription], maxConnectionMs: 2000 });
  await until(() => served.length > 2 && sent >= 5);
  clearInterval(timer);
  await until(() => inFlight === 0);
  await sleep(300);
  t.ok(line.opened());
  t.equal(counted, sent, `with ${aheadMs} ms`);
}
