/** A subscription is served, refused, or not answered in time, which is not the same as a closed socket. */
import { makeSubscription, type Subscription } from "../../../../probe/measure/stream/subscription.js";
import { isRefusal, refusalWords, refusedSubscription } from "../../../../probe/measure/stream/refusals.js";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import t, { type Test } from "tap";
import type { WebSocket } from "ws";
import { compileAcknowledgement } from "../../../../probe/measure/stream/subscriptions.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { acknowledge, listening, refuse, sendData, serveOkx, streams, type Arg } from "../../../support/okx-server.js";
import { listeningLog } from "../../../support/listening-log.js";
import { until } from "../../../support/until.js";
import { connect, send } from "../../../../world/clients.js";
import { startWorld } from "../../../../world/world.js";

t.jobs = 4;

const registry = await loadRegistry("registry/all.json");

const patience = { answerWithinMs: 600, askAgainMs: 600_000 };
const names = streams.map(({ name }) => name);

for (const venue of registry.venues.filter(({ socket }) => socket?.streams.every(({ acknowledge }) => acknowledge)))
  void t.test(`each subscription is acknowledged: ${venue.id}`, async (t) => {
    const world = await startWorld({
      registry: { ...registry, venues: [{ ...venue, rest: [] }] },
      faults: [{ kind: "silent", venue: venue.id, component: "ws:*" }],
    });
    t.teardown(() => world.close());
    const socket = world.registry.venues[0]!.socket!;
    const urlOf = (stream: { url?: string }) => stream.url ?? socket.url;
    for (const url of new Set(socket.streams.map(urlOf))) {
      const subscriptions = socket.streams.filter((stream) => urlOf(stream) === url).map(makeSubscription);
      const acknowledged = compileAcknowledgement(subscriptions);
      const client = await connect(url);
      const waiting = new Set(subscriptions);
      client.ws.on("message", (data: Buffer, isBinary: boolean) => {
        const plain = isBinary && socket.compression ? gunzipSync(data) : data;
        const frame = JSON.parse(plain.toString()) as unknown;
        const subscription = isRefusal(frame) ? null : acknowledged(frame, waiting);
        if (subscription) waiting.delete(subscription);
      });
      for (const [place, subscription] of subscriptions.entries()) {
        t.equal(subscriptions.length - waiting.size, place);
        send(client, subscription.stream.subscribe);
        await until(() => !waiting.has(subscription));
      }
      client.ws.terminate();
    }
  });

/** An OKX that acknowledges all subscriptions but those to trades; `requests` has the channels of all. */
async function serveTrades(t: Test, answer: (ws: WebSocket, arg: Arg) => void) {
  const requests: string[] = [];
  const { url, server } = await serveOkx(t, (ws, arg) => {
    requests.push(arg.channel);
    (arg.channel === "trades" ? answer : acknowledge)(ws, arg);
  });
  return { url, server, requests };
}

void t.test("a subscription without an answer is the fault of its stream alone, until the socket closes", async (t) => {
  const { url, server } = await serveTrades(t, () => {});
  const { line, subscription, subscriptions } = listening(t, url, { patience });
  await until(() => names.filter((name) => subscription(name).meter.isSubscribed()).length === 2);
  await until(() => subscription("trades").trouble !== null);
  const { kind, askedMs } = subscription("trades").trouble!;
  t.equal(kind, "unanswered");
  t.ok(performance.now() - askedMs >= patience.answerWithinMs, "not before the answer is due");
  t.notOk(subscription("trades").meter.isSubscribed());
  t.same([subscription("ticker").trouble, subscription("book").trouble], [null, null]);
  t.ok(line.opened());
  t.equal(line.down(), null, "the socket stays up");

  const [ws] = server.clients;
  server.close();
  ws!.terminate();
  await until(() => line.down() !== null);
  t.same(line.down(), { fault: "closed" });
  t.ok(subscriptions.every(({ trouble, meter }) => !trouble && !meter.isSubscribed()));
});

void t.test("a refusal that names no stream becomes the reason of all unanswered ones", async (t) => {
  const { url } = await serveOkx(t, (ws) => ws.send(JSON.stringify({ event: "alert", message: "Bad request" })));
  const { subscription } = listening(t, url, { patience });
  await until(() => names.every((name) => subscription(name).trouble !== null));
  for (const name of names) t.equal(subscription(name).trouble?.words, "Bad request", name);
});

for (const [what, answer] of [
  ["an acknowledgement", acknowledge],
  ["data, which acknowledge their own stream", sendData],
] as const)
  void t.test(`an unanswered subscription is served by ${what}`, async (t) => {
    let answerTrades = () => {};
    const { url } = await serveOkx(t, (ws, arg) => {
      if (arg.channel === "trades") answerTrades = () => answer(ws, arg);
    });
    const { subscription } = listening(t, url, { patience });
    await until(() => subscription("trades").trouble?.kind === "unanswered");
    answerTrades();
    await until(() => subscription("trades").trouble === null);
    t.ok(subscription("trades").meter.isSubscribed());
    t.equal(subscription("ticker").trouble?.kind, "unanswered", "no other stream is served");
  });

const unacknowledged = structuredClone(streams);
for (const stream of unacknowledged) delete stream.acknowledge;

for (const [what, streamed, answer] of [
  ["is distinguished from an unanswered one, and sent again", streams, acknowledge],
  ["is sent again to a venue that acknowledges nothing", unacknowledged, sendData],
] as const)
  void t.test(`a refused subscription ${what}`, async (t) => {
    let times = 0;
    const { url, requests } = await serveTrades(t, (ws, arg) => {
      times += 1;
      if (times < 4) refuse(ws, arg);
      else answer(ws, arg);
    });
    const patience = { answerWithinMs: 10_000, askAgainFirstMs: 100, askAgainMs: 300 };
    const { subscription } = listening(t, url, { subscriptions: streamed.map(makeSubscription), patience });
    await until(() => subscription("trades").trouble?.kind === "refused");
    await until(() => subscription("trades").trouble === null);
    t.ok(subscription("trades").meter.isSubscribed());
    t.equal(times, 4);
    // without acknowledgements, the others are sent again until they bring data
    if (answer === acknowledge) t.equal(requests.filter((name) => name === "tickers").length, 1);
  });

void t.test("a subscription that gets no answer is sent again", async (t) => {
  const sentMs: number[] = [];
  const { url } = await serveTrades(t, (ws, arg) => {
    sentMs.push(performance.now());
    if (sentMs.length === 4) acknowledge(ws, arg);
  });
  const { subscription } = listening(t, url, {
    patience: { answerWithinMs: 2500, askAgainFirstMs: 100, askAgainMs: 300 },
  });
  await until(() => subscription("trades").meter.isSubscribed());
  t.equal(subscription("trades").trouble, null, "no fault before the answer is due");
  await sleep(700);
  t.equal(sentMs.length, 4, "it is not sent again once it is served");
  // A tenth of a second, two tenths and three; the first may have arrived late.
  const allMs = sentMs[3]! - sentMs[0]!;
  t.ok(allMs >= 450, `the pauses grow: ${allMs} ms in all`);
});

void t.test("a repeated subscription may be refused once without a fault", async (t) => {
  const requests: string[] = [];
  const { url } = await serveOkx(t, (ws, arg) => {
    const isFirst = !requests.includes(arg.channel);
    requests.push(arg.channel);
    // The second subscription is in flight when the answer to the first arrives.
    if (isFirst) return;
    acknowledge(ws, arg);
    refuse(ws, arg);
  });
  const { subscriptions } = listening(t, url, { patience: { askAgainFirstMs: 600, askAgainMs: 60_000 } });
  await until(() => subscriptions.every(({ meter }) => meter.isSubscribed()));
  await sleep(500);
  t.equal(requests.length, 2 * names.length);
  t.ok(subscriptions.every(({ trouble }) => trouble === null));
});

void t.test("when one stream is served again, the others are retried at once", async (t) => {
  let isRefusing = true;
  let requests = 0;
  const { url } = await serveOkx(t, (ws, arg) => {
    requests += 1;
    if (isRefusing) refuse(ws, arg);
    else acknowledge(ws, arg);
  });
  const { subscriptions } = listening(t, url, { patience: { askAgainFirstMs: 2000, askAgainMs: 2000 } });
  await until(() => subscriptions.every(({ trouble }) => trouble !== null));
  isRefusing = false;
  await until(() => subscriptions.some(({ trouble }) => trouble === null));
  const firstMs = performance.now();
  await until(() => subscriptions.every(({ trouble }) => trouble === null));
  const allMs = performance.now() - firstMs;
  t.ok(allMs < 2000, `${allMs} ms later, and not in two turns of 2 s`);
  t.equal(requests, 2 * names.length);
});

void t.test("a refusal is stored in the venue's own words", async (t) => {
  const { url } = await serveOkx(t, (ws, arg) => {
    const msg = `channel:${arg.channel} doesn't exist`;
    ws.send(JSON.stringify({ event: "error", code: "60018", msg, arg }));
  });
  const { log, lines } = listeningLog("warn");
  const { subscription } = listening(t, url, { log });
  await until(() => subscription("trades").trouble !== null);
  t.equal(subscription("trades").trouble?.words, "60018 channel:trades doesn't exist");
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
  [{ id: "3", status: "error", "err-code": "bad-request", "err-msg": "invalid topic" }, "bad-request invalid topic"],
  [{ id: 3, code: 40003, message: "Unknown channel" }, "40003 Unknown channel"],
  [{ channel: "rs.error", data: "Contract not exists" }, "Contract not exists"],
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

void t.test("a refusal is recognised, and stored in words that are safe to publish", (t) => {
  for (const [frame, words] of refusals) {
    const text = JSON.stringify(frame).slice(0, 60);
    t.ok(isRefusal(frame), text);
    t.equal(refusalWords(frame), words, text);
  }
  t.end();
});

void t.test("an answer that refuses nothing is no refusal", (t) => {
  for (const frame of [
    ...["true", "ok", true, null, ["ticker"], {}].map((result) => ({ id: 1, result })),
    { event: "terror" },
    { event: "info", version: 1 },
    { message: "welcome", pingInterval: 18_000 },
    { id: 3, method: "public/heartbeat", code: 0 },
    { code: 200, message: "success" },
    { status: "ok", channel: "rs.sub.deal", data: "success" },
  ])
    t.notOk(isRefusal(frame), JSON.stringify(frame));
  t.end();
});

void t.test("a refusal affects only the stream that it names", (t) => {
  const subscriptions = streams.map(makeSubscription);
  const [first, second] = subscriptions as [Subscription, Subscription];
  for (const subscription of subscriptions) {
    const [arg] = (subscription.stream.subscribe as { args: object[] }).args;
    for (const kind of [{ event: "error" }, { type: "x:error" }])
      t.equal(refusedSubscription({ ...kind, arg: { ...arg } }, subscriptions, subscriptions), subscription);
    t.equal(
      refusedSubscription({ event: "error", arg: { ...arg, instId: "OTHER" } }, subscriptions, subscriptions),
      null,
    );
  }
  const [arg] = (first.stream.subscribe as { args: unknown[] }).args;
  t.equal(
    refusedSubscription({ event: "error", arg }, subscriptions, [second]),
    null,
    "a stream that has sent data is not refused",
  );
  t.equal(refusedSubscription({ event: "error" }, subscriptions, [second]), second);
  t.equal(refusedSubscription({ event: "error" }, subscriptions, subscriptions), null);
  t.end();
});

const welcome = [{ path: "$.message", equals: "welcome" }];

void t.test("no subscription is sent before the welcome", async (t) => {
  let requests = 0;
  const { url, server } = await serveOkx(t, (ws, arg) => {
    requests += 1;
    acknowledge(ws, arg);
  });
  const { line, subscriptions } = listening(t, url, { welcome, patience: { welcomeWithinMs: 60_000 } });
  await until(() => line.opened() !== null);
  const [ws] = server.clients;
  ws!.send(JSON.stringify({ message: "wait" }));
  await sleep(300);
  t.equal(requests, 0);
  for (let i = 0; i < 2; i += 1) ws!.send(JSON.stringify({ message: "welcome", pingInterval: 18_000 }));
  await until(() => subscriptions.every(({ meter }) => meter.isSubscribed()));
  t.equal(requests, streams.length, "each once");
});

void t.test("subscriptions are sent even if the welcome never comes", async (t) => {
  const { url } = await serveOkx(t, acknowledge);
  const { line, subscriptions } = listening(t, url, { welcome, patience: { welcomeWithinMs: 400 } });
  await until(() => line.opened() !== null);
  t.notOk(subscriptions.some(({ meter }) => meter.isSubscribed()));
  await until(() => subscriptions.every(({ meter }) => meter.isSubscribed()));
  t.ok(subscriptions.every(({ trouble }) => trouble === null));
});
