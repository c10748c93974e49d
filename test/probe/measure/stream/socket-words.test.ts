/**
 * A venue says on a socket that it refuses us, limits us, or does not trade. Also refused upgrades, and other nodes.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { type WebSocket, WebSocketServer } from "ws";
import type { MeasurementOutcome } from "../../../../probe/measure/measurement.js";
import { makeFrameWords } from "../../../../probe/measure/stream/session.js";
import { type Down, openSocket } from "../../../../probe/measure/stream/socket.js";
import type { Connectivity } from "../../../../probe/network/own-network.js";
import { makeResolver } from "../../../../probe/network/resolver.js";
import { hostsOf } from "../../../../shared/registry/components.js";
import type { SocketConfig, Venue } from "../../../../shared/registry/registry.js";
import { makeAuthority } from "../../../support/certificates.js";
import { listeningLog } from "../../../support/listening-log.js";
import {
  acknowledge,
  type Arg,
  listening,
  measuringStreams,
  okx,
  refuse,
  sendData,
  serveOkx,
  serveSockets,
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

// Why a socket closed or did not open: our own machine's failures are not the venue's.

/** An open socket, with or without a way out. */
async function open(t: Test, way: Connectivity) {
  const { url, server } = await serveSockets(t, () => {});
  const downs: Down[] = [];
  /** The instants since which a way out was sought. */
  const soughtMs: number[] = [];
  const wayOut = (_host: string, sinceMs: number) => {
    soughtMs.push(sinceMs);
    return Promise.resolve(way);
  };
  const socket = openSocket({
    ...{ url, userAgent: "test", resolver: { ...makeResolver([]), wayOut } },
    ...{ onOpen() {}, onHeard() {}, onMessage() {} },
    onDown: (down) => downs.push(down),
  });
  t.teardown(() => socket.close());
  await until(() => socket.opened !== null && server.clients.size === 1);
  const [peer] = server.clients;
  return { socket, downs, soughtMs, peer: peer! };
}

const network = { unmeasured: "network" };
const closed = { fault: "closed" };

for (const [code, cause] of Object.entries({
  ENOBUFS: { open: { unmeasured: "sockets" }, shut: { unmeasured: "sockets" } },
  ENETDOWN: { open: closed, unknown: network, shut: network },
  EHOSTUNREACH: { open: closed, unknown: network, shut: network },
  ECONNRESET: { open: closed, unknown: closed, shut: network },
}))
  for (const [way, expected] of Object.entries(cause))
    void t.test(`${code} on an open socket, with the way out ${way}, gets its cause`, async (t) => {
      const { socket, downs } = await open(t, way as Connectivity);
      const error = Object.assign(new Error(code), { code });
      socket.opened!.connection.socket.destroy(error);
      await until(() => downs.length > 0);
      t.same(downs[0]!.cause, expected);
      t.ok(socket.isEnded());
    });

void t.test("an unanswered keep-alive is the venue's fault only while there is a way out", async (t) => {
  for (const [way, expected] of [
    ["shut", network],
    ["open", { fault: "timeout" }],
  ] as const) {
    const { socket, downs, soughtMs } = await open(t, way);
    const openedMs = socket.opened!.atMs;
    socket.giveUp({ fault: "timeout" }, "nothing came back");
    await until(() => downs.length > 0);
    t.same(downs[0]!.cause, expected);
    t.same(soughtMs, [openedMs], "the way out is judged since the last sign of life");
  }
});

void t.test("a close by the venue is its fault, without a check of the way out", async (t) => {
  const { downs, soughtMs, peer } = await open(t, "shut");
  peer.close(1012, "restart");
  await until(() => downs.length > 0);
  t.same(downs[0]!.cause, closed);
  t.same(soughtMs, []);
});

void t.test("an acknowledgement that arrived during a standstill is read before it counts as missing", async (t) => {
  const patience = { answerWithinMs: 100, askAgainMs: 60_000 };
  let answered = 0;
  const { url } = await serveOkx(t, (ws, arg) => {
    acknowledge(ws, arg);
    answered += 1;
    const untilMs = performance.now() + 2 * patience.answerWithinMs;
    while (performance.now() < untilMs);
  });
  const { log, lines } = listeningLog("warn");
  const { subscriptions } = listening(t, url, { patience, log });
  await until(() => answered === subscriptions.length);
  await until(() => subscriptions.every(({ meter }) => meter.isSubscribed()));
  t.same(lines, []);
});

void t.test("a socket that opened reports when its server's certificate expires", async (t) => {
  const expiresAt = new Date(Math.ceil(Date.now() / 1000 + 86_400) * 1000);
  const authority = makeAuthority();
  const server = createServer(authority.vouchFor({ names: ["127.0.0.1"], until: expiresAt }));
  const sockets = new WebSocketServer({ server });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const ws of sockets.clients) ws.terminate();
    server.close();
  });

  const { port } = server.address() as AddressInfo;
  const socket = { ...okx.socket!, url: `wss://127.0.0.1:${port}` };
  const { measure, socketsOpen } = measuringStreams(t, okx, { socket, ca: authority.cert });
  await until(() => socketsOpen() === 1);
  const opened = await measure("ws:conn");
  t.match(opened, { good: true, latencyUs: Number, connectUs: Number, tlsUs: Number });
  // t.match accepts any date for another
  t.has(opened, { certificateExpiresAt: expiresAt });
  const next = await measure("ws:conn");
  t.match(next, { good: true, latencyUs: null, certificateExpiresAt: null }, "the next reading does not repeat it");
});
