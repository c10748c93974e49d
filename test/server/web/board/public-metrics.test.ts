import t, { type Test } from "tap";
import { sql } from "../../../../shared/database/pool.js";
import { componentsOf } from "../../../../shared/registry/components.js";
import type { Registry } from "../../../../shared/registry/registry.js";
import { type Api, serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { type Family, parseExposition } from "../../../support/exposition.js";
import {
  ago,
  decide,
  forget,
  type Measured,
  measured,
  outage,
  pastIncident,
  unmeasured,
} from "../../../support/fleet.js";

/** The families by their names without `svc_`. */
type Scraped = Record<string, Family>;

async function scrape(api: Api): Promise<Scraped> {
  const { status, headers, text } = await api.ask("/metrics");
  if (status !== 200) throw new Error(`/metrics answered ${status}: ${text}`);
  if (headers["content-type"] !== "text/plain; version=0.0.4; charset=utf-8")
    throw new Error(`/metrics came as ${headers["content-type"]}`);
  return Object.fromEntries(parseExposition(text).map((family) => [family.name.replace("svc_", ""), family]));
}

/** Label names with their values, and the value of each series, in order of appearance. */
function valuesOf(family: Family | undefined): [labels: string, value: number][] {
  return family!.series.map(({ labels, value }) => {
    const pairs = Object.entries(labels).map((pair) => pair.join("="));
    return [pairs.join(" "), value];
  });
}

/** The different values of each of these families. */
function distinct(scraped: Scraped, ...names: string[]): number[][] {
  return names.map((name) => [...new Set(scraped[name]!.series.map(({ value }) => value))]);
}

/** Every component has exactly its states, regions and severities, however little is known. */
function isWhole(t: Test, scraped: Scraped, registry: Registry) {
  const components = registry.venues.flatMap((venue) =>
    componentsOf(venue).map(({ id }) => `venue=${venue.id} component=${id}`),
  );
  const labels = {
    component_state: components,
    component_state_region: components.flatMap((of) => registry.regions.map(({ id }) => `${of} region=${id}`)),
    incident_open: components.flatMap((of) => [`${of} severity=degraded`, `${of} severity=outage`]),
  };
  for (const [name, expected] of Object.entries(labels)) {
    const shown = valuesOf(scraped[name]).map(([labels]) => labels);
    t.strictSame(shown.sort(), expected.sort(), name);
  }
}

void t.test("/metrics", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });

  /** Labels of the open incidents. */
  async function openIncidents(): Promise<string[]> {
    const values = valuesOf((await scrape(api))["incident_open"]).filter(([, value]) => value !== 0);
    t.ok(values.every(([, value]) => value === 1));
    return values.map(([labels]) => labels);
  }

  await t.test("spec: before anything was measured: all of it, as 3", async (t) => {
    const seen = await scrape(api);
    isWhole(t, seen, registry);
    t.strictSame(distinct(seen, "component_state", "component_state_region", "incident_open"), [[3], [3], [0]]);
    t.strictSame(distinct(seen, "latency_seconds", "latency_samples"), [[], [0]], "no latency yet");
  });

  await t.test("spec: 5 families of gauges, and 3 that say what they are of, in format 0.0.4", async (t) => {
    await measured(pool, { from: ago(200), to: ago(0) });
    await decide(pool);
    const seen = await scrape(api);
    isWhole(t, seen, registry);
    const states = ["component_state", "component_state_region"];
    const names = [
      "generated_at_seconds",
      "decided_at_seconds",
      ...states,
      "latency_seconds",
      "latency_samples",
      "incident_open",
      "transfer_state",
    ];
    const families = Object.values(seen).map(({ name, type }) => `${type} ${name}`);
    const gauges = names.map((name) => `gauge svc_${name}`);
    t.strictSame(families, gauges, "gauges have no _sum and no _count");
    const [clock] = await pool.query<{ at: number }>(
      sql`select extract(epoch from generated_at)::float8 as at from api.clock`,
    );
    t.strictSame(distinct(seen, "generated_at_seconds", "latency_seconds"), [[clock!.at], [0.08]]);
    t.strictSame(distinct(seen, ...states, "incident_open"), [[0], [0], [0]]);
    const endpoints = registry.venues.flatMap(({ id, rest }) =>
      rest.flatMap(({ name, cadenceMs }) =>
        registry.regions.map((region): [labels: string, answers: number] => [
          `venue=${id} endpoint=${name} region=${region.id}`,
          60_000 / cadenceMs,
        ]),
      ),
    );
    const percentiles = endpoints.flatMap(([labels, answers]) => [
      ...(answers >= 3 ? [`${labels} percentile=50`] : []),
      ...(answers >= 10 ? [`${labels} percentile=95`] : []),
    ]);
    const latencies = valuesOf(seen["latency_seconds"]).map(([labels]) => labels);
    // only REST endpoints, each region separately
    t.strictSame(latencies.sort(), percentiles.sort(), "a percentile is of enough answers");
    t.strictSame(valuesOf(seen["latency_samples"]).sort(), endpoints.sort(), "the number of answers is exposed, too");
  });

  await t.test("an outage that two of three regions see", async (t) => {
    await forget(pool);
    await outage.open(pool);
    const ticker = "venue=kraken component=rest:ticker";
    const seen = await scrape(api);
    isWhole(t, seen, registry);
    // slow cadences have too few samples yet
    const troubled = valuesOf(seen["component_state"]).filter(([, value]) => value > 0 && value < 3);
    t.strictSame(troubled, [[ticker, 2]], "nothing else changed");
    const regional = valuesOf(seen["component_state_region"]).filter(([labels]) => labels.startsWith(ticker));
    const expected = { "eu-central": 2, "ap-southeast": 0, "us-east": 2 };
    const lines = Object.entries(expected).map(([region, value]) => [`${ticker} region=${region}`, value]);
    t.strictSame(regional, lines, "each region's own view, before the quorum");
    t.strictSame(await openIncidents(), [`${ticker} severity=outage`]);

    await outage.close(pool);
    t.strictSame(await openIncidents(), []);
  });

  await t.test("open incidents by their present severity", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(200), to: ago(0) });
    const past = { startedAt: ago(100), minutes: null, venue: "okx" };
    await pastIncident(pool, { ...past, component: "ws:trades", severity: "degraded" });
    await pastIncident(pool, { ...past, component: "rest:ticker", retracted: true });
    await pastIncident(pool, { ...past, component: "rest:book", minutes: 1 });
    // bypassing the engine, which would rightly close it
    await decide(pool, ago(90));
    const open = ["venue=okx component=ws:trades severity=degraded"];
    t.strictSame(await openIncidents(), open, "a closed and a retracted incident read 0");
  });

  await t.test("latency is that of the newest complete minute", async (t) => {
    await forget(pool);
    const minuteMs = 60_000;
    const settledMs = 15_000;
    const end = Math.floor((Date.now() - settledMs) / minuteMs) * minuteMs;
    const at = (ms: number) => new Date(end + ms);
    const ticker = (fromMs: number, toMs: number, what: Partial<Measured>) =>
      measured(pool, { from: at(fromMs), to: at(toMs), venue: "kraken", component: "rest:ticker", ...what });
    await ticker(-180_000, -60_000, { latencyMs: 40 });
    await ticker(-60_001, 0, { regions: ["eu-central"], latencyMs: 500 });
    for (let slot = 0; slot < 12; slot += 1) {
      const slotMs = -60_000 + slot * 5_000;
      await ticker(slotMs - 1, slotMs + 1, { regions: ["us-east"], latencyMs: 120 - slot * 10 });
    }
    await ticker(-60_001, 0, { regions: ["ap-southeast"], fault: "http" });
    await ticker(-1, 30_000, { latencyMs: 999 });
    // a refusal may be quick and complete
    await pool.query(sql`update sample set latency_us = 5000 where not good`);
    const latencies = async () => valuesOf((await scrape(api))["latency_seconds"]);
    const labels = (region: string, percentile: number) =>
      `venue=kraken endpoint=ticker region=${region} percentile=${percentile}`;

    await decide(pool, at(settledMs - 1));
    const previous = ["eu-central", "ap-southeast", "us-east"].flatMap((region) =>
      [50, 95].map((percentile) => [labels(region, percentile), 0.04]),
    );
    t.strictSame(await latencies(), previous, "the previous minute while answers of the last one may be in flight");
    await decide(pool, at(settledMs));
    t.strictSame(
      await latencies(),
      [
        [labels("eu-central", 50), 0.5],
        [labels("eu-central", 95), 0.5],
        // 10, 20, … 120 ms
        [labels("us-east", 50), 0.065],
        [labels("us-east", 95), 0.1145],
      ],
      "regions are separate; none where no good answer was measured",
    );
  });

  await t.test("a component without evidence reads 3, next to the others", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(200), to: ago(0) });
    await unmeasured(pool, { from: ago(200), to: ago(0), venue: "okx", component: "rest:ticker" });
    await unmeasured(pool, { from: ago(200), to: ago(0), venue: "gate", regions: ["us-east"] });
    await decide(pool);
    const seen = await scrape(api);
    isWhole(t, seen, registry);
    const unknown = ["component_state", "component_state_region"].flatMap((name) =>
      valuesOf(seen[name]).filter(([, value]) => value !== 0),
    );
    const [ofGate, others] = [true, false].map((isGate) =>
      unknown.filter(([labels]) => labels.startsWith("venue=gate ") === isGate),
    );
    const okx = "venue=okx component=rest:ticker";
    t.strictSame(others, [[okx, 3], ...registry.regions.map(({ id }) => [`${okx} region=${id}`, 3])]);
    t.ok(ofGate!.every(([labels, value]) => labels.endsWith("us-east") && value === 3));
    const latencies = valuesOf(seen["latency_seconds"]);
    t.notOk(latencies.some(([labels]) => labels.startsWith("venue=okx endpoint=ticker")));
  });

  await t.test("the engine is silent: every state reads 3", async (t) => {
    await forget(pool);
    await outage.open(pool);
    await pool.query(sql`update engine_clock set ticked_at = ticked_at - interval '5 minutes'`);
    const seen = await scrape(api);
    isWhole(t, seen, registry);
    t.strictSame(distinct(seen, "component_state", "component_state_region"), [[3], [3]]);
    t.ok(seen["latency_seconds"]!.series.length > 0, "latency does not depend on the engine");
  });

  await t.test("the engine hangs: latency stays that of its last tick, whose time is exposed", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(290), to: ago(0) });
    const tickedAt = ago(200);
    await decide(pool, tickedAt);
    const first = await api.ask("/metrics");
    await pool.query(sql`update sample set latency_us = 120000 where latency_us is not null and ts > ${tickedAt}`);
    const later = await serve(t, { pool, registry });
    t.equal((await later.ask("/metrics")).text, first.text);
    const seen = await scrape(later);
    t.strictSame(distinct(seen, "latency_seconds", "generated_at_seconds"), [[0.08], [+tickedAt / 1000]]);
  });

  await t.test("while the engine is silent, the instant of its decisions stays behind", async (t) => {
    await forget(pool);
    const tickedAt = ago(400);
    await measured(pool, { from: ago(500), to: tickedAt });
    await decide(pool, tickedAt);
    const seen = await scrape(await serve(t, { pool, registry }));
    const [[decidedS], [generatedS]] = distinct(seen, "decided_at_seconds", "generated_at_seconds") as [
      [number],
      [number],
    ];
    t.equal(decidedS, +tickedAt / 1000);
    t.ok(generatedS > decidedS + 300, `${generatedS - decidedS} s`);
  });

  await t.test("unknown parameters change nothing, and HEAD has the same headers", async (t) => {
    await forget(pool);
    // two whole minutes: another may begin in between
    await measured(pool, { from: ago(200), to: ago(0) });
    await decide(pool, ago(3));
    const first = await api.ask("/metrics");
    const again = await api.ask("/metrics?unknown=1&unknown=2");
    t.strictSame([again.text, again.headers.etag], [first.text, first.headers.etag]);
    const { headers } = await api.ask("/metrics", { method: "HEAD" });
    t.equal(headers["content-type"], first.headers["content-type"]);
    t.equal(Number(headers["content-length"]), Buffer.byteLength(first.text));
  });

  await t.test("a scrape counts for the rate limit", async (t) => {
    const limited = await serve(t, { pool, registry, rateLimit: 2 });
    for (const left of ["remaining=1", "remaining=0"]) t.match((await limited.ask("/metrics")).headers.ratelimit, left);
    t.match(await limited.ask("/metrics"), { status: 429, headers: { "retry-after": /./ } });
  });

  await t.test("a component removed from the registry is not exposed", async (t) => {
    await pool.query(sql`update venue set published = false where venue = 'kraken'`);
    await pool.query(sql`update region set published = false where region = 'us-east'`);
    await decide(pool, ago(2));
    const { text } = await api.ask("/metrics");
    t.notMatch(text, /kraken"|us-east/);
    t.match(text, /kraken-futures"/);
    await pool.query(sql`update venue set published = true`);
    await pool.query(sql`update region set published = true`);
  });

  await t.test("labels can hold any venue name", async (t) => {
    const name = 'a"b\\c\nd\\n{e="f",} é𝄞';
    await pool.query(sql`update venue set venue = ${name} where venue = 'kraken'`);
    await pool.query(sql`update region set region = ${name} where region = 'us-east'`);
    await decide(pool);
    const seen = await scrape(api);
    for (const family of ["component_state", "component_state_region", "latency_seconds", "incident_open"])
      t.ok(seen[family]!.series.some(({ labels }) => labels.venue === name));
    t.ok(seen["latency_seconds"]!.series.some(({ labels }) => labels.region === name));
  });
});
