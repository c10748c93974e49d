/**
 * A subscription is served, refused, or not answered in time. Tests that each is distinguished from the others and from
 * a closed socket.
 */
import t, { type Test } from "tap";
import type { WebSocket } from "ws";
import { compileAcknowledgement } from "../../../probe/stream/acknowledgement.js";
import { makeSubscription, type Subscription } from "../../../probe/stream/subscription.js";
import { isRefusal, refusedFeed } from "../../../probe/stream/refusal.js";
import { refusalWords } from "../../../probe/stream/refusal-words.js";
import { type Venue } from "../../../shared/registry/registry.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { acknowledge, listening, refuse, sendData, serveOkx, streams, type Arg } from "../../support/okx-server.js";
import { listeningLog } from "../../support/listening-log.js";
import { until } from "../../support/until.js";
import { connect, send } from "../../../simulator/clients.js";
import { startWorld } from "../../../simulator/world.js";

t.jobs = 4;

const { venues } = await loadRegistry("registry-all.json");
const spoken = venues.filter(({ socket }) => socket !== null);

const patience = { answerWithinMs: 600, askAgainMs: 600_000 };
const names = streams.map(({ name }) => name);

for (const venue of spoken)
  void t.test(`each subscription is acknowledged: ${venue.id}`, async (t) => {
    const world = await silentWorld(t, venue);
    const { socket } = world.registry.venues[0]!;
    for (const url of new Set(socket!.streams.map((stream) => stream.url ?? socket!.url))) {
      const feeds = socket!.streams.filter((stream) => (stream.url ?? socket!.url) === url).map(makeSubscription);
      const acknowledged = compileAcknowledgement(feeds);
      const client = await connect(url);
      const waiting = new Set(feeds);
      client.ws.on("message", (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as unknown;
        const feed = isRefusal(frame) ? null : acknowledged(frame, waiting);
        if (feed) waiting.delete(feed);
      });
      for (const { stream } of feeds) {
        t.equal(
          feeds.length - waiting.size,
          feeds.findIndex((f) => f.stream === stream),
        );
        send(client, stream.subscribe);
        await until(() => ![...waiting].some((feed) => feed.stream === stream));
      }
      client.ws.terminate();
    }
  });

function silentWorld(t: Test, venue: Venue) {
  return startWorld({
    registry: {
      probeIntervalMs: 5000,
      regions: [{ id: "eu-central", name: "Europe" }],
      venues: [{ ...venue, rest: [], official: null }],
    },
    faults: [{ kind: "silent", venue: venue.id, component: "ws:*" }],
  }).then((world) => {
    t.teardown(() => world.close());
    return world;
  });
}

void t.test("a subscription without an answer is the fault of its stream alone", async (t) => {
  const { url } = await serveOkx(t, (ws, arg) => {
    if (arg.channel !== "trades") acknowledge(ws, arg);
  });
  const { line, feed } = listening(t, url, { patience });
  await until(() => names.filter((name) => feed(name).meter.isSubscribed()).length === 2);
  await until(() => feed("trades").trouble !== null);
  const { kind, askedMs } = feed("trades").trouble!;
  t.equal(kind, "unanswered");
  t.ok(performance.now() - askedMs >= patience.answerWithinMs, "not before the answer is due");
  t.notOk(feed("trades").meter.isSubscribed());
  t.same([feed("ticker").trouble, feed("book").trouble], [null, null]);
  t.ok(line.opened());
  t.equal(line.down(), null, "the socket stays up");
});

void t.test("a refusal that names no stream becomes the reason of all unanswered ones", async (t) => {
  const { url } = await serveOkx(t, (ws) => ws.send(JSON.stringify({ event: "alert", message: "Bad request" })));
  const { feed } = listening(t, url, { patience });
  await until(() => names.every((name) => feed(name).trouble !== null));
  for (const name of names) t.equal(feed(name).trouble?.words, "Bad request", name);
});

void t.test("a late acknowledgement ends the fault", async (t) => {
  let tell = () => {};
  const { url } = await serveOkx(t, (ws, arg) => {
    if (arg.channel === "trades") tell = () => acknowledge(ws, arg);
    else acknowledge(ws, arg);
  });
  const { feed } = listening(t, url, { patience });
  await until(() => feed("trades").trouble?.kind === "unanswered");
  tell();
  await until(() => feed("trades").trouble === null);
  t.ok(feed("trades").meter.isSubscribed());
});

void t.test("data acknowledge a subscription, too", async (t) => {
  let speak = () => {};
  const { url } = await serveOkx(t, (ws, arg) => {
    if (arg.channel === "trades") speak = () => sendData(ws, arg);
  });
  const { feed } = listening(t, url, { patience });
  await until(() => feed("trades").trouble?.kind === "unanswered");
  speak();
  await until(() => feed("trades").meter.isSubscribed());
  t.equal(feed("trades").trouble, null);
  t.equal(feed("ticker").trouble?.kind, "unanswered", "data acknowledge their own stream only");
});

void t.test("a refused subscription is distinguished from an unanswered one, and sent again", async (t) => {
  let refusing = true;
  const asked: string[] = [];
  const { url } = await serveOkx(t, (ws, arg) => {
    asked.push(arg.channel);
    if (arg.channel === "trades" && refusing) refuse(ws, arg);
    else acknowledge(ws, arg);
  });
  const { feed } = listening(t, url, { patience: { answerWithinMs: 10_000, askAgainMs: 300 } });
  await until(() => feed("trades").trouble?.kind === "refused");
  await until(() => asked.filter((name) => name === "trades").length >= 3);
  refusing = false;
  await until(() => feed("trades").trouble === null);
  t.ok(feed("trades").meter.isSubscribed());
  t.equal(asked.filter((name) => name === "tickers").length, 1);
});

void t.test("a subscription that gets no answer is sent again", async (t) => {
  const askedMs: number[] = [];
  const { url } = await serveOkx(t, (ws, arg) => {
    if (arg.channel !== "trades") return acknowledge(ws, arg);
    askedMs.push(performance.now());
    if (askedMs.length === 4) acknowledge(ws, arg);
  });
  const { feed } = listening(t, url, { patience: { answerWithinMs: 2500, askAgainFirstMs: 100, askAgainMs: 300 } });
  await until(() => feed("trades").meter.isSubscribed());
  t.equal(feed("trades").trouble, null, "no fault before the answer is due");
  await new Promise((done) => setTimeout(done, 700));
  t.equal(askedMs.length, 4, "it is not sent again once it is served");
  // A tenth of a second, two tenths and three; the first may have arrived late.
  const allMs = askedMs[3]! - askedMs[0]!;
  t.ok(allMs >= 450, `the pauses grow: ${allMs} ms in all`);
});

void t.test("a repeated subscription may be refused once without a fault", async (t) => {
  const asked: string[] = [];
  const { url } = await serveOkx(t, (ws, arg) => {
    // The second subscription is in flight when the answer to the first arrives.
    if (!asked.includes(arg.channel)) return asked.push(arg.channel);
    asked.push(arg.channel);
    acknowledge(ws, arg);
    refuse(ws, arg);
  });
  const { feeds, feed } = listening(t, url, { patience: { askAgainFirstMs: 600, askAgainMs: 60_000 } });
  await until(() => feeds.every(({ meter }) => meter.isSubscribed()));
  await new Promise((done) => setTimeout(done, 500));
  t.equal(asked.length, 2 * names.length);
  t.same(
    names.map((name) => feed(name).trouble),
    [null, null, null],
  );
});

void t.test("when one stream is served again, the others are retried at once", async (t) => {
  let refusing = true;
  const asked: string[] = [];
  const { url } = await serveOkx(t, (ws, arg) => {
    asked.push(arg.channel);
    if (refusing) refuse(ws, arg);
    else acknowledge(ws, arg);
  });
  const { feeds } = listening(t, url, { patience: { askAgainFirstMs: 2000, askAgainMs: 2000 } });
  await until(() => feeds.every(({ trouble }) => trouble !== null));
  refusing = false;
  await until(() => feeds.some(({ trouble }) => trouble === null));
  const firstMs = performance.now();
  await until(() => feeds.every(({ trouble }) => trouble === null));
  const allMs = performance.now() - firstMs;
  t.ok(allMs < 2000, `${allMs} ms later, and not in two turns of 2 s`);
  t.equal(asked.length, 2 * names.length);
});

void t.test("a stream without acknowledgements is retried, too", async (t) => {
  let asked = 0;
  const { url } = await serveOkx(t, (ws, arg) => {
    if (arg.channel !== "trades") return acknowledge(ws, arg);
    asked += 1;
    if (asked < 4) refuse(ws, arg);
    else sendData(ws, arg);
  });
  const feeds = streams.map((stream) => {
    const one = { ...stream };
    delete one.acknowledge;
    return makeSubscription(one);
  });
  const { feed } = listening(t, url, { feeds, patience: { askAgainFirstMs: 100, askAgainMs: 300 } });
  await until(() => feed("trades").trouble?.kind === "refused");
  await until(() => feed("trades").trouble === null);
  t.equal(asked, 4);
});

void t.test("a refusal is stored in the venue's own words", async (t) => {
  const { url } = await serveOkx(t, (ws, arg) => {
    const msg = `channel:${arg.channel} doesn't exist`;
    ws.send(JSON.stringify({ event: "error", code: "60018", msg, arg }));
  });
  const { log, lines } = listeningLog("warn");
  const { feed } = listening(t, url, { log });
  await until(() => feed("trades").trouble !== null);
  t.equal(feed("trades").trouble?.words, "60018 channel:trades doesn't exist");
  t.match(lines.join(""), /refused.*60018 channel:trades doesn't exist/);
});

const refusals: [frame: unknown, words: string][] = [
  [{ id: "3", result: false, message: "invalid request data" }, "invalid request data"],
  [{ id: "3", result: "false", reason: 'topic "x"' }, 'topic "x"'],
  [{ event: "alert", message: "Bad request" }, "Bad request"],
  [{ jsonrpc: "2.0", id: 3, result: [] }, '{jsonrpc: "2.0", id: 3, result: []}'],
  [{ id: 3, status: 400, error: { code: -1013, msg: "Invalid stream" } }, "-1013 Invalid stream"],
  [{ success: false, ret_msg: "error:handler" }, "error:handler"],
  [{ event: "bts:error", data: { code: null, message: "Bad" } }, "Bad"],
  [{ error: "a\u0000\u001b[2J\r\n\u202eb" }, "a [2J b"],
  [{ error: "", message: "x".repeat(900) }, "x".repeat(200)],
  [{ error: "😀".repeat(300) }, "😀".repeat(200)],
  [{ error: "half \ud83d" }, "half \ufffd"],
  [{ error: "IP 203.0.113.7 and 2001:db8::1 at 12:30:45 UTC" }, "IP [address] and [address] at 12:30:45 UTC"],
  [
    { error: "token 9f86d081884c7d659a2feaa0c55ad015 for not_available_for_you" },
    "token […] for not_available_for_you",
  ],
];

for (const [frame, words] of refusals)
  void t.test(`a refusal: ${JSON.stringify(frame).slice(0, 60)}`, (t) => {
    t.ok(isRefusal(frame));
    t.equal(refusalWords(frame), words);
    t.end();
  });

for (const frame of [
  { id: "3", result: true },
  { id: "3", result: "true" },
  { id: 1, result: null },
  { id: 1, result: ["ticker"] },
  { id: 1, result: {} },
  { id: 9, result: "ok" },
  { event: "info", version: 1 },
  { message: "welcome", pingInterval: 18_000 },
])
  void t.test(`no refusal: ${JSON.stringify(frame)}`, (t) => {
    t.notOk(isRefusal(frame));
    t.end();
  });

void t.test("a refusal affects only the stream that it names", (t) => {
  const feeds = streams.map(makeSubscription);
  const [first, second] = feeds;
  const refusal = { event: "error", arg: { channel: "tickers" } };
  const named = { ...refusal, arg: subscribedArg(first!) };
  t.equal(refusedFeed(named, feeds, [first!, second!]), first);
  t.equal(refusedFeed(named, feeds, [second!]), null, "a stream that has sent data is not refused");
  t.equal(refusedFeed({ event: "error" }, feeds, [second!]), second);
  t.equal(refusedFeed({ event: "error" }, feeds, feeds), null);
  t.end();
});

function subscribedArg({ stream }: Subscription): unknown {
  return (stream.subscribe as { args: unknown[] }).args[0];
}

const welcome = [{ path: "$.message", equals: "welcome" }];

void t.test("no subscription is sent before the welcome", async (t) => {
  const asked: string[] = [];
  const { url, server } = await serveOkx(t, (ws, arg) => {
    asked.push(arg.channel);
    acknowledge(ws, arg);
  });
  const open: WebSocket[] = [];
  server.on("connection", (ws) => open.push(ws));
  const { line, feeds } = listening(t, url, { welcome, patience: { welcomeWithinMs: 60_000 } });
  await until(() => line.opened() !== null);
  open[0]!.send(JSON.stringify({ message: "wait" }));
  await new Promise((done) => setTimeout(done, 300));
  t.same(asked, []);
  for (let i = 0; i < 2; i += 1) open[0]!.send(JSON.stringify({ message: "welcome", pingInterval: 18_000 }));
  await until(() => feeds.every(({ meter }) => meter.isSubscribed()));
  t.equal(asked.length, streams.length, "each once");
});

void t.test("subscriptions are sent even if the welcome never comes", async (t) => {
  const { url } = await serveOkx(t, acknowledge);
  const { line, feeds } = listening(t, url, { welcome, patience: { welcomeWithinMs: 400 } });
  await until(() => line.opened() !== null);
  t.notOk(feeds.some(({ meter }) => meter.isSubscribed()));
  await until(() => feeds.every(({ meter }) => meter.isSubscribed()));
  t.ok(feeds.every(({ trouble }) => trouble === null));
});

void t.test("an unanswered subscription is no fault once the socket has closed", async (t) => {
  const open: WebSocket[] = [];
  const { url, server } = await serveOkx(t, (ws, arg: Arg) => {
    if (arg.channel !== "trades") acknowledge(ws, arg);
    open.push(ws);
  });
  const { line, feed, feeds } = listening(t, url, { patience });
  await until(() => feed("trades").trouble?.kind === "unanswered");
  server.close();
  open[0]!.terminate();
  await until(() => line.down() !== null);
  t.same(line.down(), { fault: "closed" });
  t.ok(feeds.every(({ trouble, meter }) => !trouble && !meter.isSubscribed()));
});
