import t, { type Test } from "tap";
import { makeBackoff } from "../../../../probe/measure/pauses.js";
import { correctedAge, leastAge } from "../../../../probe/measure/rest/checks.js";
import { makeFrameTimes, makeMeter } from "../../../../probe/measure/stream/meter.js";
import { watchSequence } from "../../../../probe/measure/stream/subscription.js";
import { makeSubscriptionRetries } from "../../../../probe/measure/stream/subscriptions.js";
import type { Sample } from "../../../../shared/measurement/sample.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import type { Registry, Venue } from "../../../../shared/registry/registry.js";
import { connect, send } from "../../../../world/clients.js";
import type { ScriptedFault } from "../../../../world/faults.js";
import { startWorld, type World } from "../../../../world/world.js";
import { refuse, registry, serveOkx } from "../../../support/okx-server.js";
import { areGood, probeWorld, quickly, startRecordingProbe } from "../../../support/recording-probe.js";
import { until } from "../../../support/until.js";

const region = "eu-central";

// These tests mostly wait.
t.jobs = 4;

/** The streams of a venue, without its REST endpoints. */
function streamsOf(id: string, change: (venue: Venue) => void = () => {}): Registry {
  return quickly([id], (venue) => {
    venue.rest = [];
    change(venue);
  });
}

function startProbing(t: Test, registry: Registry, timeScale = 1, faults: ScriptedFault[] = []) {
  return probeWorld(t, { registry, timeScale, faults, messagesPerMinuteCap: timeScale === 1 ? 1200 : 30 });
}

const violationsOf = ({ violations }: World) => violations.filter((violation) => violation.region === region);

void t.test("the probe follows the keep-alive rules of all fifteen venues", async (t) => {
  const streamsOnly = registry.venues.map((venue) => ({ ...venue, rest: [] }));
  const { world, probe } = await startProbing(t, { ...registry, venues: streamsOnly }, 20);
  await until(() => probe.status().socketsOpen === 15);
  // The longest wait of all venues but those that wait ten minutes.
  const { socket } = world.registry.venues.find(({ id }) => id === "bitget")!;
  const idler = await connect(socket!.url);
  for (const { subscribe } of socket!.streams) send(idler, subscribe);
  await idler.closed;
  t.same(violationsOf(world), []);
  t.equal(world.requests({ component: "ws:conn", region }), 16, "none reconnected");
  t.equal(world.openSockets({ region }), 16);
});

void t.test("the probe echoes pings, reads compressed frames, and subscribes by a list", async (t) => {
  const ids = ["crypto-com", "htx", "upbit", "bithumb"];
  const { venues } = await loadRegistry("registry/all.json");
  const streamsOnly = ids.map((id) => ({ ...venues.find((venue) => venue.id === id)!, rest: [] }));
  const { world, of, samples } = await startProbing(t, { ...registry, venues: streamsOnly }, 30);
  const [, htx] = world.registry.venues;
  // without its pong, HTX closes after fifteen seconds
  const idler = await connect(htx!.socket!.url);
  await idler.closed;
  for (const { id, socket } of streamsOnly)
    for (const { name } of socket!.streams)
      await until(() => samples.some((one) => one.venue === id && one.component === `ws:${name}` && one.messages! > 0));
  t.ok(of("ws:conn").every(({ good }) => good));
  t.same(violationsOf(world), []);
});

void t.test("Binance Futures' pings, every three minutes, are answered", async (t) => {
  const { world } = await startProbing(t, streamsOf("binance-futures"), 120);
  await until(() => world.openSockets() === 2);
  const { socket } = world.registry.venues[0]!;
  const mute = await connect(socket!.url, undefined, false);
  await mute.closed;
  t.same(violationsOf(world), []);
  t.equal(world.openSockets({ region }), 2);
});

for (const id of ["bitfinex", "kucoin", "gemini", "gate", "deribit"])
  void t.test(`frames of ${id} are assigned to their streams and counted`, async (t) => {
    const { world, of, samples } = await startProbing(t, streamsOf(id), 10);
    const names = world.registry.venues[0]!.socket!.streams.map(({ name }) => name);
    await until(() => names.every((name) => of(`ws:${name}`).some(({ messages }) => messages! > 0)));
    t.ok(areGood(samples));
    const timed = samples.filter(({ eventAgeMs }) => eventAgeMs !== null);
    t.ok(timed.every(({ eventAgeMs }) => Math.abs(eventAgeMs!) < 2500));
  });

void t.test("a closed socket is a fault of ws:conn; its streams' slots are unserved with the same fault", async (t) => {
  const { world, of, probe } = await startProbing(t, streamsOf("okx"));
  await until(() => of("ws:trades").length > 0);
  const opened = of("ws:conn").filter(({ latencyUs }) => latencyUs !== null);
  t.equal(opened.length, 1, "one sample has the time to open");
  world.fault({ kind: "handshake-refused", venue: "okx" });
  world.fault({ kind: "socket-closed", venue: "okx" });
  await until(() => of("ws:conn").some(({ fault }) => fault === "closed"));
  const { subscribing } = probe.status().unmeasured;
  await until(() => of("ws:conn").at(-1)!.fault === "handshake");
  t.match(of("ws:conn").at(-1), { httpStatus: 503, latencyUs: null });
  const downFrom = of("ws:conn").find(({ good }) => !good)!.slotAt;
  const unserved = () => of("ws:trades", downFrom).filter((sample) => sample.unserved);
  await until(() => unserved().at(-1)?.fault === "handshake");
  for (const sample of unserved()) t.match(sample, { good: false, latencyUs: null, messages: null });
  t.equal(probe.status().unmeasured.subscribing, subscribing, "no slot is unmeasured while the socket is down");
  await world.clear();
  await until(() => of("ws:conn").at(-1)!.good);
  const upFrom = of("ws:conn").at(-1)!.slotAt;
  await until(() => of("ws:trades", upFrom).filter(({ good }) => good).length > 2);
  t.ok(of("ws:trades").every(({ good, unserved }) => good || unserved));
});

const refusals = [
  { fault: { kind: "status", status: 403 }, expected: { fault: "blocked", httpStatus: 403 } },
  { fault: { kind: "status", status: 451 }, expected: { fault: "blocked", httpStatus: 451 } },
  { fault: { kind: "limited" }, expected: { fault: "limited", httpStatus: 429 } },
  { fault: { kind: "reset" }, expected: { fault: "closed" } },
  { fault: { kind: "refused" }, expected: { fault: "connect" } },
  { fault: { kind: "timeout" }, expected: { fault: "timeout" } },
] as const;

for (const { fault, expected } of refusals)
  void t.test(`a socket that meets ${JSON.stringify(fault)}: ${expected.fault}`, async (t) => {
    const component = fault.kind === "refused" ? {} : { component: "ws:conn" };
    const { of, probe } = await startProbing(t, streamsOf("kraken"), 1, [{ ...fault, venue: "kraken", ...component }]);
    await until(() => of("ws:conn").length > 0);
    t.match(of("ws:conn")[0], { good: false, latencyUs: null, ...expected });
    if (fault.kind === "timeout") t.ok(probe.status().unmeasured.starting > 10, "slots are unmeasured until then");
  });

void t.test("a venue that asks for a pause gets no connection within it", async (t) => {
  const { world, of } = await startProbing(t, streamsOf("kraken"), 1, [
    { kind: "limited", venue: "kraken", component: "ws:conn", retryAfterS: 30 },
  ]);
  await until(() => of("ws:conn").length >= 5);
  t.equal(world.requests({ component: "ws:conn" }), 1);
});

void t.test("a dead socket: timeout", async (t) => {
  const { world, of } = await startProbing(t, streamsOf("kraken"), 20);
  await until(() => of("ws:conn").at(-1)?.good === true);
  world.fault({ kind: "dead-socket", venue: "kraken", component: "ws:conn" });
  await until(() => of("ws:conn").some(({ fault }) => fault === "timeout"));
  t.pass("found by the missing reply");
});

void t.test("a socket is renewed before the venue's limit, and the measurements go on", async (t) => {
  const limited = streamsOf("bitfinex", ({ socket }) => {
    socket!.maxConnectionMs = 7000;
    for (const stream of socket!.streams) stream.typicalPerMinute = 1200;
  });
  const world = await startWorld({ registry: limited, messagesPerMinuteCap: 1200 });
  t.teardown(() => world.close());
  // the probe renews at its own, shorter limit, so that a busy machine does not come near the venue's
  const registry = structuredClone(world.registry);
  registry.venues[0]!.socket!.maxConnectionMs = 4000;
  const { of, samples } = await startRecordingProbe(t, registry);
  await until(() => world.requests({ component: "ws:conn" }) >= 3);
  await until(() => of("ws:book").length >= 12);
  t.same(world.violations, []);
  t.ok(areGood(samples));
  const mean = of("ws:book").reduce((sum, { messages }) => sum + messages!, 0) / of("ws:book").length;
  t.ok(mean > 5 && mean < 15, `no frame counts twice: ${mean} a slot, 10 expected`);
  t.ok(world.openSockets() <= 2);
});

void t.test("a refused subscription is at once a fault of its stream", async (t) => {
  const { url } = await serveOkx(t, (ws, arg) => {
    if (arg.channel === "trades") return refuse(ws, arg);
    const timer = setInterval(() => ws.send(JSON.stringify({ arg, data: [] })), 50);
    ws.on("close", () => clearInterval(timer));
  });
  const refusing = streamsOf("okx", ({ socket }) => (socket!.url = url));
  const { of } = await startRecordingProbe(t, refusing);
  await until(() => of("ws:trades").length > 0 && of("ws:ticker").length > 0);
  t.match(of("ws:trades")[0], { good: false, fault: "handshake", refusal: "60018", messages: 0 });
  t.match(of("ws:ticker")[0], { good: true, fault: null, refusal: null });
});

void t.test("a slot's longest silence may begin before the slot", (t) => {
  const meter = makeMeter(makeFrameTimes({ path: "$.sent", unit: "ms" }));
  const frame = (atMs: number, value: unknown, isGap?: boolean) =>
    meter.frame(value, { atMs, unixMs: 1_790_000_000_000 + atMs }, isGap);
  const sent = (atMs: number) => ({ sent: 1_790_000_000_000 + atMs });
  const read = (atMs: number) => {
    const { ages, ...reading } = meter.read(atMs, 1000)!;
    return { ...reading, eventAgeMs: ages.ageMs };
  };
  t.equal(meter.read(0, 1000), null, "not subscribed");
  meter.subscribed(500);
  t.notOk(meter.read(1000, 1000)!.isWhole, "subscribed for only half of the slot");
  frame(1100, sent(1093));
  frame(1200, {});
  const whole = { isWhole: true, subscribedMs: 500 };
  t.same(read(2000), { ...whole, heardMs: 1200, messages: 2, quietMs: 800, eventAgeMs: 7, gaps: 0 });
  t.same(read(3000), { ...whole, heardMs: 1200, messages: 0, quietMs: 1800, eventAgeMs: null, gaps: 0 });
  frame(3100, sent(3103), true);
  t.same(read(4000), { ...whole, heardMs: 3100, messages: 1, quietMs: 1900, eventAgeMs: -3, gaps: 1 });
  t.notOk(meter.read(6000, 1000)!.isWhole, "the reading spans more than a slot");
  meter.lost();
  t.equal(meter.read(7000, 1000), null);
  t.end();
});

void t.test("reconnects back off to three to six a minute, with jitter", (t) => {
  const latest = makeBackoff(() => 0);
  const delays = Array.from({ length: 9 }, latest.nextMs);
  t.same(delays, [1000, 2000, 4000, 8000, 16_000, 20_000, 20_000, 20_000, 20_000]);
  latest.reset();
  t.equal(latest.nextMs(), 1000);
  t.equal(makeBackoff(() => 1).nextMs(), 500);
  t.end();
});

void t.test("an event's age is corrected by the known clock error", (t) => {
  const known = (errorMs: number, withinMs: number) => ({ errorMs, withinMs });
  t.equal(correctedAge(120, known(800, 200)), -680);
  t.equal(correctedAge(120, known(-800, 200)), 920);
  t.equal(correctedAge(120, known(-103, 289)), 120, "the clock may be right");
  t.equal(correctedAge(120, null), 120);
  t.equal(leastAge(120, known(800, 200), 0), -880, "the least possible age");
  t.equal(leastAge(120, known(-103, 289), 0), -66, "the least possible age");
  t.equal(leastAge(70_120, null, 70_000), 120, "relative to fresh data");
  t.equal(leastAge(120, null, -70_000), 120, "a negative age of fresh data adds nothing");
  t.end();
});

// Each gap in a venue's numbering is counted once; numbering that restarts is no gap.

const numbered = registry.venues.filter(({ socket }) => socket?.streams.some(({ sequence }) => sequence));

const path = "$.last";
const numbering = {
  counter: { kind: "counter", path },
  range: { kind: "range", path, first: "$.before" },
  link: { kind: "link", path, previous: "$.before" },
} as const;

void t.test("each kind of numbering recognises the next number", (t) => {
  const gaps = (kind: "counter" | "range" | "link", frames: [number, number?][]) => {
    const watch = watchSequence(numbering[kind]);
    return frames.map(([last, before]) => watch.isGap({ last, before }));
  };
  const [no, yes] = [false, true];
  t.same(gaps("counter", [[5], [6], [8], [9], [9], [3], [4]]), [no, no, yes, no, yes, yes, no]);
  t.same(gaps("counter", [[5], [NaN], [6]]), [no, no, no], "a frame without a number is no gap");
  t.same(gaps("range", [[5, 1], [9, 6], [12, 11], [13], [20, 14]]), [no, no, yes, no, no]);
  t.same(gaps("link", [[5, 1], [9, 5], [12, 10], [13], [20, 13]]), [no, no, yes, no, no]);
  t.same(gaps("counter", [[2 ** 53], [2 ** 53 + 4]]), [no, no], "numbers beyond exact integers are not judged");
  const watch = watchSequence(numbering.counter);
  watch.isGap({ last: 5 });
  watch.restart();
  t.notOk(watch.isGap({ last: 50 }), "another socket starts its own numbering");
  t.end();
});

void t.test("a number may be a string, and anything else is no number", (t) => {
  const watch = watchSequence(numbering.link);
  const isGap = (last: unknown, before: unknown) => watch.isGap({ last, before });
  t.notOk(isGap("5", "4"));
  t.notOk(isGap(9, "5"));
  t.notOk(isGap("12", 9));
  for (const none of [null, undefined, "x", "1.5", Infinity, [13], {}, true])
    t.notOk(isGap(none, 1), `${JSON.stringify(none)} is no number`);
  t.notOk(isGap(13, 12), "an invalid number does not change the sequence");
  t.ok(isGap(14, "12"));
  t.end();
});

for (const venue of numbered)
  void t.test(`frames of ${venue.id} show no gap until some are lost`, async (t) => {
    const changed = quickly([venue.id], ({ rest, socket }) => {
      rest.splice(0);
      for (const stream of socket!.streams) Object.assign(stream, { cadenceMs: 400, typicalPerMinute: 600 });
    });
    const { world, of } = await probeWorld(t, { registry: changed, messagesPerMinuteCap: 3000, timeScale: 10 });
    const names = venue.socket!.streams.filter(({ sequence }) => sequence).map(({ name }) => `ws:${name}`);
    const everyStream = (has: (sample: Sample) => boolean, from?: Date) =>
      until(() => names.every((name) => of(name, from).some(has)));
    await everyStream(({ sequenceGaps, messages }) => sequenceGaps === 0 && messages! > 3);
    const gaps = names.flatMap((name) => of(name)).map(({ sequenceGaps }) => sequenceGaps ?? 0);
    t.equal(Math.max(...gaps), 0, "no gap while none is lost");
    for (const component of names) world.fault({ kind: "lost-frames", venue: venue.id, component });
    // each frame that arrives follows one that did not
    await everyStream(({ sequenceGaps, messages }) => messages! > 1 && sequenceGaps === messages, new Date());
    t.pass("every gap is found");
  });

// Unserved subscriptions are sent again soon enough to notice a recovery, and within the venues' rate limits.

const secondMs = 1000;
const hourMs = 3600 * secondMs;

/** Bitget accepts 240 subscriptions an hour and socket. */
const ration = 240;

/**
 * The instants at which a socket sends, on the test's own clock.
 *
 * @param serves whether the venue serves a subscription at an instant; it refuses it again a second later
 */
function sentBy(
  streams: number,
  untilMs: number,
  serves: (atMs: number) => boolean = () => false,
): { atMs: number; stream: number }[] {
  const turns = makeSubscriptionRetries(5 * secondMs, 20 * secondMs);
  const sent: { atMs: number; stream: number }[] = [];
  const due = Array.from({ length: streams }, (_, place) => place * 250);
  const times = due.map(() => 0);
  for (;;) {
    const atMs = Math.min(...due);
    if (atMs > untilMs) return sent;
    const stream = due.indexOf(atMs);
    sent.push({ atMs, stream });
    times[stream]! += 1;
    const isServed = times[stream]! > 1 && serves(atMs);
    const askedMs = isServed ? atMs + secondMs : atMs;
    due[stream] = askedMs + turns.waitMs(times[stream]!, askedMs);
    if (!isServed) continue;
    for (const other of due.keys()) if (other !== stream && turns.mayHurry(atMs)) due[other] = atMs + 250;
  }
}

function mostInAnHour(sent: readonly { atMs: number }[]): number {
  return Math.max(
    ...sent.map(({ atMs: fromMs }) => sent.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + hourMs).length),
  );
}

void t.test("a subscription is retried soon at first, and then every twenty seconds", (t) => {
  const times = sentBy(1, 100 * secondMs).map(({ atMs }) => atMs / secondMs);
  t.same(times, [0, 5, 15, 35, 55, 75, 95]);
  t.end();
});

void t.test("the streams of a socket are retried in turn", (t) => {
  const sent = sentBy(3, 200 * secondMs);
  const last = sent.slice(-6).map(({ stream }) => stream);
  t.ok(last.every((stream, n) => stream === (last[0]! + n) % 3));
  const gaps = sent.slice(1).map(({ atMs }, n) => atMs - sent[n]!.atMs);
  t.ok(gaps.every((ms) => ms <= 20 * secondMs + 500));
  t.end();
});

void t.test("retries never exceed the strictest venue's rate limit", (t) => {
  const serving = {
    "refuses all": () => false,
    "serves all and refuses it again": () => true,
    "serves some": (atMs: number) => Math.floor(atMs / 7000) % 2 === 0,
  };
  for (const [what, serves] of Object.entries(serving))
    for (const streams of [1, 2, 3]) {
      const most = mostInAnHour(sentBy(streams, 3 * hourMs, serves));
      t.ok(most <= ration, `${what}, ${streams} streams: ${most} in an hour`);
    }
  t.end();
});
