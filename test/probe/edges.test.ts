/** A probe against real servers that rate-limit it, fall silent, or send stale data. */
import t, { type Test } from "tap";
import type { WebSocket } from "ws";
import type { MeasurementOutcome } from "../../probe/rest/measurement.js";
import { startProbe } from "../../probe/probe.js";
import { makeResolver } from "../../probe/network/resolver.js";
import { limits } from "../../shared/measurement/probe-rules.js";
import { startStreams } from "../../probe/stream/stream.js";
import { makeLog } from "../../shared/log/log.js";
import { type Registry, type RestEndpoint, type Stream, type Venue } from "../../shared/registry/registry.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { acknowledge, serveOkx } from "../support/okx-server.js";
import { someSpool } from "../support/spool.js";
import { until } from "../support/until.js";
import type { ScriptedFault } from "../../simulator/faults.js";
import { startWorld } from "../../simulator/world.js";

const registry = await loadRegistry("registry-all.json");

// These tests mostly wait.
t.jobs = 6;

interface Change {
  endpoint?: (endpoint: RestEndpoint) => void;
  stream?: (stream: Stream) => void;
  venue?: (venue: Venue) => void;
}

/** Venues measured twice a second unless changed. */
function quickly(ids: string[], change: Change = {}): Registry {
  const venues = structuredClone(registry.venues.filter(({ id }) => ids.includes(id)));
  for (const venue of venues) {
    change.venue?.(venue);
    for (const endpoint of venue.rest) {
      endpoint.cadenceMs = 500;
      change.endpoint?.(endpoint);
    }
    for (const stream of venue.socket?.streams ?? []) {
      stream.cadenceMs = 500;
      change.stream?.(stream);
    }
  }
  return { ...registry, venues };
}

/** A probe that measures a simulated world, and the samples that it records. */
async function probing(t: Test, played: Registry) {
  const world = await startWorld({ registry: played, messagesPerMinuteCap: 600 });
  t.teardown(() => world.close());
  const samples: Sample[] = [];
  const lines: string[] = [];
  const probe = startProbe({
    registry: world.registry,
    ...{ region: "eu-central", version: "0.1.0", siteUrl: "http://localhost" },
    spool: await someSpool(t),
    log: makeLog("test", "info", (line) => lines.push(line)),
    record(batch) {
      samples.push(...batch);
      const stored = batch.length;
      return Promise.resolve({ stored, duplicates: 0, refused: 0, unknown: [] });
    },
  });
  t.teardown(() => probe.close());
  const of = (component: string, from = new Date(0)) =>
    samples.filter((one) => one.component === component && one.slotAt >= from).sort((a, b) => +a.slotAt - +b.slotAt);
  return { world, samples, of, lines };
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

for (const [hosts, endpoints] of [
  ["one endpoint", ["ticker"]],
  ["several", ["ticker", "book", "trades"]],
] as const)
  for (const cadenceMs of [500, 2000])
    for (const kind of ["limited", "status"] as const)
      void t.test(
        `rate-limited with ${kind}, every ${cadenceMs} ms, on a host with ${hosts}: three bad samples in three slots`,
        async (t) => {
          const { world, of } = await probing(
            t,
            quickly(["okx"], {
              venue(venue) {
                venue.socket = null;
                const kept: readonly string[] = endpoints;
                venue.rest = venue.rest.filter(({ name }) => kept.includes(name));
              },
              endpoint(endpoint) {
                endpoint.cadenceMs = cadenceMs;
                endpoint.timeoutMs = 0.9 * cadenceMs;
              },
            }),
          );
          const components = endpoints.map((name) => `rest:${name}`);
          await until(() => components.every((component) => of(component).length > 0));
          const asked = () => world.requests({ venue: "okx" });
          const rationed: ScriptedFault =
            kind === "limited" ? { venue: "okx", kind, retryAfterS: 30 } : { venue: "okx", kind, status: 429 };
          // The slot that meets the limit may have begun before it.
          const bad = (component: string) => of(component).filter(({ fault }) => fault === "limited");
          world.fault(rationed);
          await until(() => components.every((component) => bad(component).length >= 4), 10_000 + 4 * cadenceMs);
          const [first] = components.flatMap(bad).sort((a, b) => +a.slotAt - +b.slotAt);
          t.match(first, { fault: "limited", unserved: null, httpStatus: 429 });
          for (const component of components) {
            const [one, , three] = bad(component);
            t.equal(+three!.slotAt - +one!.slotAt, 2 * cadenceMs, component);
            t.ok(+one!.slotAt - +first!.slotAt < cadenceMs);
            t.match(bad(component)[1], {
              ...{ good: false, fault: "limited", unserved: true },
              ...{ latencyUs: null, httpStatus: null },
            });
          }
          const before = asked();
          const slots = bad("rest:ticker").length;
          await until(() => bad("rest:ticker").length >= slots + 2);
          t.equal(asked(), before, "no more requests are sent");
        },
      );

/** OKX with REST trades as counterpart, and thresholds short enough for a test. */
const afterMs = 2000;
const tradesEveryMs = 1500;
const comparable: Change = {
  endpoint(endpoint) {
    if (endpoint.name !== "trades") return;
    endpoint.cadenceMs = tradesEveryMs;
    endpoint.timeoutMs = 1000;
    endpoint.newest = { path: "$.data[0].ts", unit: "ms" };
  },
  stream(stream) {
    stream.stall = { afterMs, distribution: null };
    stream.counterpart = "trades";
    stream.rateBasis = "estimate";
    stream.staleAfterMs = 3000;
  },
};

void t.test("a quiet market is no fault, but a stream that stops while trades go on stalls in time", async (t) => {
  const { world, of } = await probing(t, quickly(["okx"], comparable));
  await until(() => of("ws:trades").length > 1 && of("rest:trades").length > 1);
  t.type(of("rest:trades")[0]!.eventAgeMs, "number", "the age of the newest trade");
  world.fault({ venue: "okx", component: "rest:trades", kind: "frozen" });
  world.fault({ venue: "okx", component: "ws:trades", kind: "silent" });
  await until(() => of("ws:trades").at(-1)!.quietMs! > 4 * afterMs, 10_000 + 4 * afterMs);
  t.ok(
    of("ws:trades").every(({ good }) => good),
    "silence of four times the threshold is no fault while the venue shows no trade",
  );
  await world.clear();
  await until(() => of("ws:trades").at(-1)!.quietMs! < afterMs);

  const from = new Date();
  world.fault({ venue: "okx", component: "ws:trades", kind: "silent" });
  const stalled = () => of("ws:trades", from).filter(({ fault }) => fault === "stall");
  await until(() => stalled().length >= 3);
  const [first] = stalled() as [Sample];
  // slots of half a second; the machine may be late by several of them
  const mostMs = afterMs + tradesEveryMs + limits.counterpart_settle_ms + 500;
  t.ok(first.quietMs! > afterMs);
  t.ok(first.quietMs! < mostMs + 1500, `found after ${seconds(first.quietMs!)}, at most ${seconds(mostMs)}`);
  t.ok(of("ws:ticker", from).every(({ good }) => good));
  await world.clear();
  await until(() => of("ws:trades").at(-1)!.good);
});

void t.test("a silent stream with an estimated rate is no fault without a counterpart", async (t) => {
  const { world, of } = await probing(t, quickly(["okx"], { ...comparable, venue: (venue) => (venue.rest = []) }));
  await until(() => of("ws:trades").length > 1);
  world.fault({ venue: "okx", component: "ws:trades", kind: "silent" });
  await until(() => of("ws:trades").at(-1)!.quietMs! > 2 * afterMs);
  t.ok(of("ws:trades").every(({ good }) => good));
});

void t.test("a live stream whose event times stand still is stale", async (t) => {
  const { world, of } = await probing(
    t,
    quickly(["okx"], {
      endpoint: comparable.endpoint!,
      stream(stream) {
        stream.staleAfterMs = 3000;
        delete stream.counterpart;
      },
    }),
  );
  await until(() => of("ws:book").length > 1 && of("ws:ticker").length > 1);
  world.fault({ venue: "okx", component: "ws:book", kind: "frozen" });
  const stale = () => of("ws:book").filter(({ fault }) => fault === "stale");
  await until(() => stale().length >= 3, 30_000);
  for (const { messages, eventAgeMs, quietMs } of stale()) {
    t.ok(messages! > 0, "the stream still sends frames");
    t.ok(quietMs! < 2000);
    t.ok(eventAgeMs! > 3000 - 1000, `${eventAgeMs} ms`);
  }
  t.ok(of("ws:ticker").every(({ good }) => good));
  t.ok(of("ws:conn").every(({ good }) => good));
  await world.clear();
  await until(() => of("ws:book").at(-1)!.good);
});

void t.test("a price that stands still is stale, although its status is 200", async (t) => {
  const { world, of, lines } = await probing(
    t,
    quickly(["okx"], {
      venue: (venue) => (venue.socket = null),
      endpoint(endpoint) {
        if (endpoint.name === "ticker")
          endpoint.dataTime = { ...{ path: "$.data[0].ts", unit: "ms" }, staleAfterMs: 2000 };
      },
    }),
  );
  await until(() => of("rest:ticker").length > 2);
  t.ok(of("rest:ticker").every(({ good }) => good));
  world.fault({ venue: "okx", component: "rest:ticker", kind: "frozen" });
  const stale = () => of("rest:ticker").filter(({ fault }) => fault === "stale");
  await until(() => stale().length >= 3);
  for (const sample of stale()) {
    t.match(sample, { good: false, httpStatus: 200, unserved: null });
    t.ok(sample.latencyUs! > 0, "the request was answered");
    t.ok(sample.eventAgeMs! > 2000, `${sample.eventAgeMs} ms`);
  }
  t.ok(of("rest:book").every(({ good }) => good));
  await world.clear();
  await until(() => of("rest:ticker").at(-1)!.good);
  const told = lines.filter((line) => line.includes("rest:ticker"));
  t.match(told, [/warn .*data is stale.*ageMs=/, /info .*fresh again/]);
  t.equal(told.length, 2, "one line when it begins and one when it ends");
});

void t.test("a head that trails the others of its chain is stale", async (t) => {
  const { world, samples } = await probing(
    t,
    quickly(["publicnode", "drpc", "chainlink"], {
      venue(venue) {
        venue.socket = null;
        venue.rest = venue.rest.filter(({ head }) => head).slice(0, 1);
        delete venue.rest[0]!.dataTime;
      },
    }),
  );
  const of = (venue: string) => samples.filter((one) => one.venue === venue);
  await until(() => ["publicnode", "drpc", "chainlink"].every((id) => of(id).length > 2));
  t.ok(samples.every(({ good }) => good));
  world.fault({ venue: "drpc", kind: "lags", blocks: 7 });
  await until(() => of("drpc").at(-1)!.fault === "stale");
  t.match(of("drpc").at(-1), { good: false, httpStatus: 200, unserved: null });
  t.ok(of("drpc").at(-1)!.head! > 0, "the stale head is recorded");
  t.ok(of("drpc").at(-1)!.latencyUs! > 0);
  t.ok(
    of("publicnode").every(({ good }) => good),
    "the leading venue is not stale",
  );
  await world.clear();
  await until(() => of("drpc").at(-1)!.good);

  world.fault({ venue: "chainlink", kind: "lags", blocks: 7 });
  const isBehind = ({ head }: Sample) => head! <= of("publicnode").at(-1)!.head! - 6;
  await until(() => of("chainlink").filter(isBehind).length >= 3);
  t.ok(
    of("chainlink").every(({ good }) => good),
    "a venue that is read through another provider's node is not stale",
  );
});

for (const whose of ["ours", "the venue's"] as const)
  void t.test(`a socket that ${whose} trouble closes`, async (t) => {
    const open = new Set<WebSocket>();
    const { url } = await serveOkx(t, (ws, arg) => {
      acknowledge(ws, arg);
      open.add(ws);
    });
    const venue = structuredClone(registry.venues.find(({ id }) => id === "okx")!);
    venue.socket!.url = url;
    for (const stream of venue.socket!.streams) stream.cadenceMs = 500;
    const way = whose === "ours" ? "shut" : "open";
    const streams = startStreams({
      ...{ venue, socket: venue.socket!, openAfterMs: 0, userAgent: "test" },
      resolver: { ...makeResolver([]), wayOut: () => Promise.resolve(way) },
      clock: { read: () => null },
      watch: { stoodStillSince: () => false },
      log: makeLog("test", "error", () => {}),
    });
    t.teardown(() => streams.close());
    const { signal } = new AbortController();
    const [conn, stream] = streams.tasks.map((task) => async () => task.measure(new Date(), signal));
    t.match(await stream!(), { unmeasured: "subscribing" }, "the stream is subscribing at first");
    await until(async () => "good" in (await stream!()), 20_000, 500);
    await until(() => open.size > 0);
    for (const ws of open) ws.terminate();
    const byUs = { unmeasured: "network" };
    const byVenue = { good: false, fault: "closed" };
    let socket: MeasurementOutcome = { unmeasured: "starting" };
    await until(async () => {
      socket = await conn!();
      return !("good" in socket && socket.good);
    });
    t.match(socket, whose === "ours" ? byUs : byVenue);
    t.match(
      await stream!(),
      whose === "ours" ? { unmeasured: "subscribing" } : { ...byVenue, unserved: true, messages: null },
    );
  });
