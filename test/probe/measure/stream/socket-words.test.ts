/**
 * A venue says on a socket that it refuses us, limits us, or does not trade. Also refused upgrades, and other nodes.
 */
import type { IncomingMessage } from "node:http";
import t, { type Test } from "tap";
import type { WebSocket } from "ws";
import type { MeasurementOutcome } from "../../../../probe/measure/measurement.js";
import { makeFrameWords } from "../../../../probe/measure/stream/session.js";
import { hostsOf } from "../../../../shared/registry/components.js";
import type { SocketConfig, Venue } from "../../../../shared/registry/registry.js";
import { listeningLog } from "../../../support/listening-log.js";
import {
  acknowledge,
  listening,
  measuringStreams,
  okx,
  refuse,
  sendData,
  serveOkx,
  type Arg,
} from "../../../support/okx-server.js";
import { until } from "../../../support/until.js";

/** Kraken's status channel, v2. */
const halted: SocketConfig["halted"] = [
  { path: "$.channel", equals: "status" },
  { path: "$.data[0].system", equals: ["cancel_only", "maintenance", "post_only"] },
];
const limited: SocketConfig["limited"] = [
  [
    { path: "$.event", equals: "error" },
    { path: "$.code", equals: "60014" },
  ],
  [{ path: "$", includes: "too many requests" }],
];
const status = (system: string | null) =>
  JSON.stringify({ channel: "status", type: "update", data: [{ system, api_version: "v2" }] });

function venueAt(url: string, more: Partial<SocketConfig> = {}): Venue {
  const socket = { ...okx.socket!, url, ...more };
  return {
    ...okx,
    rest: [],
    socket: { ...socket, streams: socket.streams.map((one) => ({ ...one, cadenceMs: 300 })) },
  };
}

/** An OKX whose streams send ten times a second; `sockets` has those that are open. */
async function serveLively(t: Test, more: Parameters<typeof serveOkx>[2] = {}) {
  const sockets = new Set<WebSocket>();
  const { url } = await serveOkx(t, (ws, arg) => deliver(ws, arg, sockets), more);
  return { url, sockets, say: (frame: string) => sockets.forEach((ws) => ws.send(frame)) };
}

function deliver(ws: WebSocket, arg: Arg, sockets: Set<WebSocket>) {
  sockets.add(ws);
  acknowledge(ws, arg);
  const timer = setInterval(() => sendData(ws, arg), 100);
  ws.once("close", () => {
    clearInterval(timer);
    sockets.delete(ws);
  });
}

type Measuring = ReturnType<typeof measuringStreams>;

async function untilOutcome(
  { measure }: Measuring,
  component: string,
  isReached: (one: MeasurementOutcome) => boolean,
) {
  await until(async () => isReached(await measure(component)), 60_000, 300);
}

const isGood = (one: MeasurementOutcome) => "good" in one && one.good;
const isFault = (fault: string) => (one: MeasurementOutcome) => "fault" in one && one.fault === fault;
const isReason = (reason: string) => (one: MeasurementOutcome) => "unmeasured" in one && one.unmeasured === reason;

void t.test("a socket is halted while the venue says so, and its streams are judged as before", async (t) => {
  const { url, say, sockets } = await serveLively(t);
  const { log, lines } = listeningLog("info");
  const measuring = measuringStreams(t, venueAt(url, { halted }), { log });
  const { measure } = measuring;
  await untilOutcome(measuring, "ws:conn", isGood);
  await untilOutcome(measuring, "ws:trades", isGood);
  for (const system of ["cancel_only", "maintenance", "post_only"]) {
    say(status(system));
    await untilOutcome(measuring, "ws:conn", isFault("halted"));
    t.match(await measure("ws:conn"), { good: false, unserved: null, latencyUs: null });
    say(status("online"));
    await untilOutcome(measuring, "ws:conn", isGood);
  }
  say(status("cancel_only"));
  await untilOutcome(measuring, "ws:conn", isFault("halted"));
  for (const frame of [`{"channel":"heartbeat"}`, status(null), `{"channel":"status","data":[]}`, "pong", "7"])
    say(frame);
  await untilOutcome(measuring, "ws:trades", isGood);
  t.match(await measure("ws:conn"), { fault: "halted" }, "other frames do not change it");
  t.equal(sockets.size, 1);
  const [first] = sockets;
  first!.close();
  await untilOutcome(measuring, "ws:conn", (one) => isGood(one) && sockets.size === 1 && !sockets.has(first!));
  t.match(
    lines.filter((line) => line.includes("ws:conn")),
    [/warn .*does not trade.*venue=okx/, /info .*no longer says that it does not trade/],
    "logged when it begins and when it ends",
  );
});

void t.test("a stream's data are never read as a limit or a halt", async (t) => {
  const { url } = await serveLively(t);
  const anything = { path: "$.data" };
  const measuring = measuringStreams(t, venueAt(url, { halted: anything, limited: anything }));
  await untilOutcome(measuring, "ws:trades", isGood);
  t.match(await measuring.measure("ws:conn"), { good: true });
});

void t.test("each form of the words holds and is cleared by frames that have its values", (t) => {
  const both = makeFrameWords({
    halted: [[{ path: "$.a", equals: 1 }, { path: "$.b" }], [{ path: "$.c", equals: 1 }]],
  });
  const steps: [frame: unknown, isHalted: boolean][] = [
    [{ a: 1 }, false],
    [{ a: 1, b: 0 }, true],
    [{ a: 2 }, true],
    [{ a: 2, b: null }, true],
    [{ c: 2 }, true],
    [{ a: 2, b: 0 }, false],
    [{ c: 1 }, true],
    [{ a: 2, b: 0 }, true],
    [{ c: 0 }, false],
  ];
  for (const [frame, isHalted] of steps) {
    both.hear(frame);
    t.equal(both.isHalted(), isHalted, JSON.stringify(frame));
  }
  const text = makeFrameWords({ halted: { path: "$", includes: "maintenance" } });
  text.hear("in Maintenance");
  t.ok(text.isHalted());
  text.hear({});
  t.notOk(text.isHalted());
  const none = makeFrameWords({});
  t.notOk(none.isHalted());
  t.same([none.hear({ a: 1 }), none.hear("x")], [null, null]);
  t.end();
});

for (const frame of [`{"event":"error","code":"60014","msg":"Requests too frequent"}`, "Too Many Requests"])
  void t.test(`a frame that limits us ends the socket: ${frame}`, async (t) => {
    let upgrades = 0;
    const { url, say } = await serveLively(t, { verifyClient: () => (upgrades += 1) > 0 });
    const { log, lines } = listeningLog("warn");
    const measuring = measuringStreams(t, venueAt(url, { limited }), { log });
    const { measure } = measuring;
    await untilOutcome(measuring, "ws:trades", isGood);
    say(frame);
    await untilOutcome(measuring, "ws:conn", isFault("limited"));
    t.match(await measure("ws:trades"), { fault: "limited", unserved: true }, "the slot in which it went down");
    for (let slot = 0; slot < 8; slot += 1) {
      await new Promise((done) => setTimeout(done, 300));
      t.same(await measure("ws:trades"), { unmeasured: "paused" }, "then we wait by our own choice");
      t.match(await measure("ws:conn"), { fault: "limited", unserved: null }, "the socket is still down");
    }
    t.equal(upgrades, 1, "a usual backoff would have ended");
    t.match(lines.join(""), /socket down.*limited.*asks us to wait/);
  });

for (const [httpStatus, headers, isPaused] of [
  [429, {}, true],
  [402, {}, true],
  [429, { "Retry-After": String(Math.ceil(Date.now() / 1000)) }, true],
  [429, { "Retry-After": "60" }, false],
] as const)
  void t.test(`an upgrade refused with ${httpStatus} ${JSON.stringify(headers)}`, async (t) => {
    let upgrades = 0;
    const { url } = await serveLively(t, {
      verifyClient(_info, answer) {
        upgrades += 1;
        answer(false, httpStatus, "", headers);
      },
    });
    const measuring = measuringStreams(t, venueAt(url));
    const { measure } = measuring;
    await untilOutcome(measuring, "ws:conn", isFault("limited"));
    t.match(await measure("ws:conn"), { httpStatus });
    t.match(await measure("ws:trades"), { fault: "limited", unserved: true });
    const next = await measure("ws:trades");
    if (isPaused) t.same(next, { unmeasured: "paused" });
    else t.match(next, { fault: "limited", unserved: true }, "the venue has asked for it");
    await new Promise((done) => setTimeout(done, 1500));
    t.equal(upgrades, 1);
  });

void t.test("a frame that refuses our country ends the socket", async (t) => {
  const { url, say } = await serveLively(t);
  const { log, lines } = listeningLog("warn");
  const blocked = { path: "$.code", equals: "400302" };
  const measuring = measuringStreams(t, venueAt(url, { blocked, limited: { path: "$.code" } }), { log });
  await untilOutcome(measuring, "ws:trades", isGood);
  say(`{"code":"400302","msg":"Unavailable in the U.S."}`);
  await untilOutcome(measuring, "ws:conn", isFault("blocked"));
  t.match(lines.join(""), /socket down.*blocked.*refuses us/);
});

void t.test("refused upgrades (403) back off to one attempt in two minutes, until one opens", async (t) => {
  const refusedAtS: number[] = [];
  let isBanned = true;
  // three hundred times as fast
  const speed = 300;
  const now = () => performance.now() * speed;
  const clock = {
    now,
    after(ms: number, run: () => void) {
      const timer = setTimeout(run, ms / speed);
      return () => clearTimeout(timer);
    },
  };
  const verifyClient = (_info: { req: IncomingMessage }, answer: (ok: boolean, code?: number) => void) => {
    if (isBanned) refusedAtS.push(now() / 1000);
    answer(!isBanned, 403);
  };
  const { url } = await serveLively(t, { verifyClient });
  const { line, subscriptions } = listening(t, url, { clock });
  await until(() => refusedAtS.length === 7);
  t.same(line.down(), { fault: "blocked", httpStatus: 403 });
  t.ok(subscriptions.every(({ isPaused }) => isPaused));
  const betweenS = refusedAtS.slice(1).map((atS, n) => atS - refusedAtS[n]!);
  for (const [n, leastS] of [0, 0, 30, 60, 120, 120].entries())
    t.ok(betweenS[n]! >= leastS - 0.5, `attempt ${n + 2} after ${betweenS[n]} s, at least ${leastS}`);
  isBanned = false;
  await until(() => line.opened() !== null);
  t.equal(line.down(), null);
});

void t.test("while one node fails, another serves the streams; if all fail, the venue is not blamed", async (t) => {
  const up = [true, true];
  const nodes = await Promise.all(
    up.map((_, place) => serveLively(t, { verifyClient: (_info, answer) => answer(up[place]!, 503) })),
  );
  const [first, second] = nodes;
  const measuring = measuringStreams(t, venueAt(first!.url, { alternatives: [second!.url] }));
  const { measure } = measuring;
  const fails = (place: number) => {
    up[place] = false;
    for (const ws of nodes[place]!.sockets) ws.terminate();
  };
  await untilOutcome(measuring, "ws:trades", isGood);
  t.same([first!.sockets.size, second!.sockets.size], [1, 0], "the first address is asked first");
  fails(0);
  await until(() => second!.sockets.size === 1);
  await untilOutcome(measuring, "ws:trades", isGood);
  t.match(await measure("ws:conn"), { good: true });
  fails(1);
  await untilOutcome(measuring, "ws:conn", isReason("provider"));
  for (let slot = 0; slot < 5; slot += 1) {
    await new Promise((done) => setTimeout(done, 300));
    t.same(
      [await measure("ws:conn"), await measure("ws:trades")],
      [{ unmeasured: "provider" }, { unmeasured: "provider" }],
    );
  }
  up[0] = true;
  await untilOutcome(measuring, "ws:trades", isGood);
  t.match(await measure("ws:conn"), { good: true });
  t.equal(first!.sockets.size, 1);
});

void t.test("a node that is never there, limits us or refuses a stream is left for the next", async (t) => {
  const lively = await serveLively(t);
  const gone = await serveLively(t, { verifyClient: (_info, answer) => answer(false, 403) });
  const limiting = await serveOkx(t, (ws) => ws.send("too many requests"));
  const refusing = await serveOkx(t, (ws, arg) => (arg.channel === "trades" ? refuse(ws, arg) : acknowledge(ws, arg)));
  const alternatives = [limiting.url, refusing.url, lively.url];
  const measuring = measuringStreams(t, venueAt(gone.url, { alternatives, limited }));
  await untilOutcome(measuring, "ws:trades", isGood);
  t.match(await measuring.measure("ws:conn"), { good: true });
  t.equal(refusing.server.clients.size, 0, "its socket is closed");
});

void t.test("alternative hosts of a socket are known as hosts of the venue", (t) => {
  const venue = venueAt("wss://one.test/a", { alternatives: ["wss://two.test/b"] });
  t.same(new Set(hostsOf(venue)), new Set(["one.test", "two.test"]));
  t.end();
});
