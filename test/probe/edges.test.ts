/** A probe against real servers that rate-limit it, fall silent, or send stale data. */
import t, { type Test } from "tap";
import type { MeasurementOutcome } from "../../probe/measure/measurement.js";
import { makeResolver } from "../../probe/network/resolver.js";
import { probeLimits } from "../../shared/rules/probe-rules.js";
import type { Registry } from "../../shared/registry/registry.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { listeningLog } from "../support/listening-log.js";
import { acknowledge, measuringStreams, serveOkx } from "../support/okx-server.js";
import { areGood, probeWorld, quickly } from "../support/recording-probe.js";
import { until } from "../support/until.js";

// These tests mostly wait.
t.jobs = 6;

async function startProbing(t: Test, registry: Registry) {
  const { log, lines } = listeningLog("info");
  return { lines, ...(await probeWorld(t, { registry, messagesPerMinuteCap: 600 }, { log })) };
}

for (const [hosts, endpoints] of [
  ["one endpoint", ["ticker"]],
  ["several", ["ticker", "book", "trades"]],
] as const)
  for (const cadenceMs of [500, 2000]) {
    const names: readonly string[] = endpoints;
    const components = names.map((name) => `rest:${name}`);
    const limiting = quickly(["okx"], (venue) => {
      venue.socket = null;
      venue.rest = venue.rest.filter(({ name }) => names.includes(name));
      for (const endpoint of venue.rest) Object.assign(endpoint, { cadenceMs, timeoutMs: 0.9 * cadenceMs });
    });

    void t.test(
      `a limit with Retry-After, every ${cadenceMs} ms, ${hosts}: three bad samples in three slots`,
      async (t) => {
        const { world, probe, of } = await startProbing(t, limiting);
        const ownMissed = () => Object.values(probe.status().unmeasured).reduce((sum, slots) => sum + slots, 0);
        await until(() => components.every((component) => of(component).length > 0));
        const requests = () => world.requests({ venue: "okx" });
        // The slot that meets the limit may have begun before it.
        const bad = (component: string) => of(component).filter(({ fault }) => fault === "limited");
        world.fault({ venue: "okx", kind: "limited", retryAfterS: 30 });
        await until(() => components.every((component) => bad(component).length >= 4), 10_000 + 4 * cadenceMs);
        const [first] = components.flatMap(bad).sort((a, b) => +a.slotAt - +b.slotAt);
        t.match(first, { fault: "limited", unserved: null, httpStatus: 429 });
        for (const component of components) {
          const [one, , three] = bad(component);
          const skipped = (+three!.slotAt - +one!.slotAt) / cadenceMs - 2;
          t.ok(skipped <= ownMissed(), `${component}: a slot between them is missing only if our machine was late`);
          t.ok(+one!.slotAt - +first!.slotAt < cadenceMs);
          t.match(bad(component)[1], { good: false, unserved: true, latencyUs: null, httpStatus: null });
        }
        const before = requests();
        const slots = bad("rest:ticker").length;
        await until(() => bad("rest:ticker").length >= slots + 2);
        t.equal(requests(), before, "no more requests are sent");
      },
    );

    void t.test(
      `a limit without Retry-After, every ${cadenceMs} ms, ${hosts}: one bad sample, then none`,
      async (t) => {
        const { world, probe, of } = await startProbing(t, limiting);
        await until(() => components.every((component) => of(component).length > 0));
        world.fault({ venue: "okx", kind: "status", status: 429 });
        const bad = () => components.flatMap((component) => of(component).filter(({ good }) => !good));
        await until(() => bad().length > 0);
        // a slot of each endpoint may have been in flight
        await until(() => probe.status().unmeasured.paused >= 2 * names.length);
        const requests = world.requests({ venue: "okx" });
        const samples = components.flatMap((component) => of(component)).length;
        const { paused } = probe.status().unmeasured;
        await until(() => probe.status().unmeasured.paused >= paused + 2 * names.length);
        t.equal(world.requests({ venue: "okx" }), requests, "no more requests are sent");
        t.equal(components.flatMap((component) => of(component)).length, samples, "and no slot counts");
        t.ok(bad().length <= names.length);
        for (const sample of bad()) t.match(sample, { fault: "limited", unserved: null, httpStatus: 429 });
      },
    );
  }

void t.test("a quiet market is no fault, but a stream that stops while trades go on stalls in time", async (t) => {
  // thresholds short enough for a test
  const afterMs = 2000;
  const tradesEveryMs = 1500;
  const comparable = quickly(["okx"], ({ rest, socket }) => {
    const newest = { path: "$.data[0].ts", unit: "ms" };
    const trades = rest.find(({ name }) => name === "trades")!;
    Object.assign(trades, { cadenceMs: tradesEveryMs, timeoutMs: 1000, newest });
    const stall = { afterMs, distribution: null };
    for (const stream of socket!.streams)
      Object.assign(stream, { stall, counterpart: "trades", rateBasis: "estimate", staleAfterMs: 3000 });
  });
  const { world, of } = await startProbing(t, comparable);
  await until(() => of("ws:trades").length > 1 && of("rest:trades").length > 1);
  t.type(of("rest:trades")[0]!.eventAgeMs, "number", "the age of the newest trade");
  world.fault({ venue: "okx", component: "rest:trades", kind: "frozen" });
  world.fault({ venue: "okx", component: "ws:trades", kind: "silent" });
  await until(() => of("ws:trades").at(-1)!.quietMs! > 4 * afterMs, 10_000 + 4 * afterMs);
  t.ok(areGood(of("ws:trades")), "silence is no fault while the venue shows no trade");
  await world.clear();
  await until(() => of("ws:trades").at(-1)!.quietMs! < afterMs);

  const from = new Date();
  world.fault({ venue: "okx", component: "ws:trades", kind: "silent" });
  const stalled = () => of("ws:trades", from).filter(({ fault }) => fault === "stall");
  await until(() => stalled().length >= 3);
  const [first] = stalled() as [Sample];
  // slots of half a second; the machine may be late by several of them
  const mostMs = afterMs + tradesEveryMs + probeLimits.counterpart_settle_ms + 500;
  t.ok(first.quietMs! > afterMs);
  t.ok(first.quietMs! < mostMs + 1500, `found after ${first.quietMs} ms, at most ${mostMs}`);
  for (const component of ["ws:conn", "ws:ticker", "ws:book"]) t.ok(areGood(of(component)), component);
  await world.clear();
  await until(() => of("ws:trades").at(-1)!.good);
});

void t.test("a price that stands still is stale, although its status is 200", async (t) => {
  const timed = quickly(["okx"], (venue) => {
    venue.socket = null;
    const ticker = venue.rest.find(({ name }) => name === "ticker")!;
    ticker.dataTime = { path: "$.data[0].ts", unit: "ms", staleAfterMs: 2000 };
  });
  const { world, of, lines } = await startProbing(t, timed);
  await until(() => of("rest:ticker").length > 2);
  t.ok(areGood(of("rest:ticker")));
  world.fault({ venue: "okx", component: "rest:ticker", kind: "frozen" });
  const stale = () => of("rest:ticker").filter(({ fault }) => fault === "stale");
  await until(() => stale().length >= 3);
  for (const sample of stale()) {
    t.match(sample, { good: false, httpStatus: 200, unserved: null, latencyUs: Number });
    t.ok(sample.eventAgeMs! > 2000, `${sample.eventAgeMs} ms`);
  }
  t.ok(areGood(of("rest:book")));
  await world.clear();
  await until(() => of("rest:ticker").at(-1)!.good);
  const aboutTicker = lines.filter((line) => line.includes("rest:ticker"));
  t.match(aboutTicker, [/warn .*data is stale.*ageMs=/, /info .*fresh again/]);
  t.equal(aboutTicker.length, 2, "one line when it begins and one when it ends");
});

void t.test("a head that trails the others of its chain is stale", async (t) => {
  const ids = ["publicnode", "drpc", "chainlink"];
  const headsOnly = quickly(ids, (venue) => {
    venue.socket = null;
    venue.rest = venue.rest.filter(({ head }) => head).slice(0, 1);
    delete venue.rest[0]!.dataTime;
  });
  const { world, samples } = await startProbing(t, headsOnly);
  const of = (venue: string) => samples.filter((one) => one.venue === venue);
  await until(() => ids.every((id) => of(id).length > 2));
  t.ok(areGood(samples));
  world.fault({ venue: "drpc", kind: "lags", blocks: 7 });
  await until(() => of("drpc").at(-1)!.fault === "stale");
  // with the stale head
  t.match(of("drpc").at(-1), { good: false, httpStatus: 200, unserved: null, head: Number, latencyUs: Number });
  t.ok(areGood(of("publicnode")), "the leading venue is not stale");
  await world.clear();
  await until(() => of("drpc").at(-1)!.good);

  world.fault({ venue: "chainlink", kind: "lags", blocks: 7 });
  const isBehind = ({ head }: Sample) => head! <= of("publicnode").at(-1)!.head! - 6;
  await until(() => of("chainlink").filter(isBehind).length >= 3);
  t.ok(areGood(of("chainlink")), "a venue read through another provider's node is not stale");
});

void t.test("a socket that our own network closes is no venue's fault", async (t) => {
  const { url, server } = await serveOkx(t, acknowledge);
  const { venues } = quickly(["okx"], ({ socket }) => (socket!.url = url));
  const { measure } = measuringStreams(t, venues[0]!, {
    resolver: { ...makeResolver([]), wayOut: () => Promise.resolve("shut") },
  });
  t.match(await measure("ws:trades"), { unmeasured: "subscribing" }, "the stream is subscribing at first");
  await until(async () => "good" in (await measure("ws:trades")), 60_000, 500);
  for (const ws of server.clients) ws.terminate();
  let socket: MeasurementOutcome = { unmeasured: "starting" };
  await until(async () => {
    socket = await measure("ws:conn");
    return !("good" in socket && socket.good);
  });
  t.match([socket, await measure("ws:trades")], [{ unmeasured: "network" }, { unmeasured: "subscribing" }]);
});
