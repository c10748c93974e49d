import t, { type Test } from "tap";
import { sql } from "../../../shared/database/pool.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { type Api, serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { type Family, parseExposition, type Series } from "../../support/exposition.js";
import { ago, decide, forget, measured, outage, pastIncident, unmeasured } from "../../support/fleet.js";

const states = { operational: 0, degraded: 1, outage: 2, unknown: 3 };

async function scrape(api: Api): Promise<Record<string, Family>> {
  const { status, headers, text } = await api.ask("/metrics");
  if (status !== 200) throw new Error(`/metrics answered ${status}: ${text}`);
  if (headers["content-type"] !== "text/plain; version=0.0.4; charset=utf-8")
    throw new Error(`/metrics came as ${headers["content-type"]}`);
  return Object.fromEntries(parseExposition(text).map((family) => [family.name, family]));
}

/** Values by labels, in order of appearance. */
function valuesOf(family: Family | undefined, where = ""): Map<string, number> {
  return new Map(
    family!.series
      .map(({ labels, value }) => [told(labels), value] as const)
      .filter(([labels]) => labels.startsWith(where)),
  );
}

/** Label names with their values, in order of appearance. */
function told(labels: Series["labels"]): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}

/** Every component of the registry, as labels. */
function componentsOf({ venues }: Registry): string[] {
  return venues.flatMap(({ id, rest, socket }) =>
    [
      ...rest.map(({ name }) => `rest:${name}`),
      ...(socket ? ["ws:conn", ...socket.streams.map(({ name }) => `ws:${name}`)] : []),
    ].map((component) => `venue=${id} component=${component}`),
  );
}

function each(values: Map<string, number>): number[] {
  return [...new Set(values.values())];
}

/** Every component has exactly its states, regions and severities, however little is known. */
function isWhole(t: Test, seen: Record<string, Family>, registry: Registry) {
  const components = componentsOf(registry);
  const regions = registry.regions.map(({ id }) => id);
  t.strictSame([...valuesOf(seen["svc_component_state"]).keys()].sort(), components.sort());
  t.strictSame(
    [...valuesOf(seen["svc_component_state_region"]).keys()].sort(),
    components.flatMap((of) => regions.map((id) => `${of} region=${id}`)).sort(),
  );
  t.strictSame(
    [...valuesOf(seen["svc_incident_open"]).keys()].sort(),
    components.flatMap((of) => [`${of} severity=degraded`, `${of} severity=outage`]).sort(),
  );
}

void t.test("/metrics", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const api = await serve(t, { pool, registry });

  await t.test("spec: before anything was measured: all of it, as 3", async (t) => {
    const seen = await scrape(api);
    isWhole(t, seen, registry);
    t.strictSame(each(valuesOf(seen["svc_component_state"])), [3]);
    t.strictSame(each(valuesOf(seen["svc_component_state_region"])), [3]);
    t.strictSame(each(valuesOf(seen["svc_incident_open"])), [0]);
    t.strictSame(seen["svc_latency_seconds"]!.series, [], "no latency yet");
    t.strictSame(each(valuesOf(seen["svc_latency_samples"])), [0]);
  });

  await t.test(
    "spec: 4 families of gauges, and 2 that say what they are of, in format 0.0.4, when all is well",
    async (t) => {
      await measured(pool, { from: ago(200), to: ago(0) });
      await decide(pool);
      const seen = await scrape(api);
      isWhole(t, seen, registry);
      t.strictSame(
        Object.values(seen).map(({ name, type }) => [name, type]),
        [
          ["svc_generated_at_seconds", "gauge"],
          ["svc_component_state", "gauge"],
          ["svc_component_state_region", "gauge"],
          ["svc_latency_seconds", "gauge"],
          ["svc_latency_samples", "gauge"],
          ["svc_incident_open", "gauge"],
        ],
        "gauges have no _sum and no _count",
      );
      const [clock] = await pool.query<{ at: number }>(
        sql`select extract(epoch from generated_at)::float8 as at from api.clock`,
      );
      t.strictSame(each(valuesOf(seen["svc_generated_at_seconds"])), [clock!.at]);
      t.strictSame(each(valuesOf(seen["svc_component_state"])), [0]);
      t.strictSame(each(valuesOf(seen["svc_component_state_region"])), [0]);
      t.strictSame(each(valuesOf(seen["svc_incident_open"])), [0]);
      t.strictSame(
        [...valuesOf(seen["svc_latency_seconds"]).keys()].sort(),
        registry.venues
          .flatMap(({ id, rest }) =>
            rest.flatMap(({ name, cadenceMs }) =>
              registry.regions.flatMap((region) =>
                [...(60_000 / cadenceMs >= 3 ? ["50"] : []), ...(60_000 / cadenceMs >= 10 ? ["95"] : [])].map(
                  (percentile) => `venue=${id} endpoint=${name} region=${region.id} percentile=${percentile}`,
                ),
              ),
            ),
          )
          .sort(),
        "only REST endpoints, each region separately, where there are enough answers",
      );
      t.strictSame(
        Object.fromEntries(valuesOf(seen["svc_latency_samples"])),
        Object.fromEntries(
          registry.venues.flatMap(({ id, rest }) =>
            rest.flatMap(({ name, cadenceMs }) =>
              registry.regions.map((region) => [
                `venue=${id} endpoint=${name} region=${region.id}`,
                60_000 / cadenceMs,
              ]),
            ),
          ),
        ),
        "the number of answers is exposed, too",
      );
      t.strictSame(each(valuesOf(seen["svc_latency_seconds"])), [0.08]);
    },
  );

  await t.test("an outage that two of three regions see", async (t) => {
    await forget(pool);
    await outage.open(pool);
    const ticker = "venue=kraken component=rest:ticker";
    const seen = await scrape(api);
    isWhole(t, seen, registry);
    t.strictSame(
      [...valuesOf(seen["svc_component_state"])].filter(([, v]) => v > 0 && v < 3),
      [[ticker, states.outage]],
      "nothing else changed; slow cadences have too few samples yet",
    );
    t.strictSame(
      [...valuesOf(seen["svc_component_state_region"], ticker)],
      [
        [`${ticker} region=eu-central`, states.outage],
        [`${ticker} region=ap-southeast`, states.operational],
        [`${ticker} region=us-east`, states.outage],
      ],
      "each region's own view, before the quorum",
    );
    const open = valuesOf(seen["svc_incident_open"]);
    t.equal(open.get(`${ticker} severity=outage`), 1);
    t.equal(open.get(`${ticker} severity=degraded`), 0);
    t.equal([...open.values()].filter((value) => value === 1).length, 1);

    await outage.close(pool);
    t.strictSame(each(valuesOf((await scrape(api))["svc_incident_open"])), [0]);
  });

  await t.test("open incidents by their present severity", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(200), to: ago(0) });
    const startedAt = ago(100);
    const open = { startedAt, minutes: null };
    await pastIncident(pool, { ...open, venue: "okx", component: "ws:trades", severity: "degraded" });
    await pastIncident(pool, { ...open, venue: "okx", component: "rest:ticker", retracted: true });
    await pastIncident(pool, { startedAt, minutes: 1, venue: "okx", component: "rest:book" });
    // bypassing the engine, which would rightly close it
    await decide(pool, ago(90));
    const seen = valuesOf((await scrape(api))["svc_incident_open"]);
    t.strictSame(
      [...seen].filter(([, value]) => value === 1),
      [["venue=okx component=ws:trades severity=degraded", 1]],
      "a closed and a retracted incident read 0",
    );
  });

  await t.test("latency is that of the newest complete minute", async (t) => {
    await forget(pool);
    const minuteMs = 60_000;
    const settledMs = 15_000;
    const end = Math.floor((Date.now() - settledMs) / minuteMs) * minuteMs;
    const at = (ms: number) => new Date(end + ms);
    const ticker = { venue: "kraken", component: "rest:ticker" };
    await measured(pool, { from: at(-180_000), to: at(-60_000), ...ticker, latencyMs: 40 });
    await measured(pool, { from: at(-60_001), to: at(0), ...ticker, regions: ["eu-central"], latencyMs: 500 });
    for (let slot = 0; slot < 12; slot += 1)
      await measured(pool, {
        from: at(-60_001 + slot * 5_000),
        to: at(-60_000 + slot * 5_000 + 1),
        ...ticker,
        regions: ["us-east"],
        latencyMs: 120 - slot * 10,
      });
    await measured(pool, { from: at(-60_001), to: at(0), ...ticker, regions: ["ap-southeast"], fault: "http" });
    await measured(pool, { from: at(-1), to: at(30_000), ...ticker, latencyMs: 999 });
    // a refusal may be quick and complete
    await pool.query(sql`update sample set latency_us = 5000 where not good`);
    const latencies = async () => [...valuesOf((await scrape(api))["svc_latency_seconds"])];
    const labels = (region: string, percentile: number) =>
      `venue=kraken endpoint=ticker region=${region} percentile=${percentile}`;

    await decide(pool, at(settledMs - 1));
    t.strictSame(
      await latencies(),
      ["eu-central", "ap-southeast", "us-east"].flatMap((region) => [
        [labels(region, 50), 0.04],
        [labels(region, 95), 0.04],
      ]),
      "the previous minute while answers of the last one may be in flight",
    );
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
    const gone = { venue: "okx", component: "rest:ticker" };
    await unmeasured(pool, { from: ago(200), to: ago(0), ...gone });
    await unmeasured(pool, { from: ago(200), to: ago(0), venue: "gate", regions: ["us-east"] });
    await decide(pool);
    const seen = await scrape(api);
    isWhole(t, seen, registry);
    t.strictSame(
      [...valuesOf(seen["svc_component_state"])].filter(([, v]) => v !== 0),
      [["venue=okx component=rest:ticker", 3]],
    );
    const regional = valuesOf(seen["svc_component_state_region"]);
    const unknown = [...regional].filter(([, value]) => value !== 0);
    t.strictSame(
      unknown.filter(([labels]) => !labels.startsWith("venue=gate ")),
      registry.regions.map(({ id }) => [`venue=okx component=rest:ticker region=${id}`, 3]),
    );
    t.ok(
      unknown
        .filter(([labels]) => labels.startsWith("venue=gate "))
        .every(([labels, v]) => labels.endsWith("us-east") && v === 3),
    );
    t.notOk(
      [...valuesOf(seen["svc_latency_seconds"]).keys()].some((labels) =>
        labels.startsWith("venue=okx endpoint=ticker"),
      ),
    );
  });

  await t.test("the engine is silent: every state reads 3", async (t) => {
    await forget(pool);
    await outage.open(pool);
    await pool.query(sql`update engine_clock set ticked_at = ticked_at - interval '5 minutes'`);
    const seen = await scrape(api);
    isWhole(t, seen, registry);
    t.strictSame(each(valuesOf(seen["svc_component_state"])), [3]);
    t.strictSame(each(valuesOf(seen["svc_component_state_region"])), [3]);
    t.ok(seen["svc_latency_seconds"]!.series.length > 0, "latency does not depend on the engine");
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
    t.strictSame(each(valuesOf(seen["svc_latency_seconds"])), [0.08]);
    t.strictSame(each(valuesOf(seen["svc_generated_at_seconds"])), [+tickedAt / 1000]);
  });

  await t.test("the response is cached like the others", async (t) => {
    await forget(pool);
    // two whole minutes: another may begin in between
    await measured(pool, { from: ago(200), to: ago(0) });
    await decide(pool, ago(3));
    const first = await api.ask("/metrics");
    const again = await api.ask("/metrics?unknown=1&unknown=2");
    t.equal(again.text, first.text);
    t.match(first.headers.etag, /^"/);
    t.equal(again.headers.etag, first.headers.etag);
    t.match(first.headers["cache-control"], "max-age=5");
    const headers = { "if-none-match": first.headers.etag! };
    t.equal((await api.ask("/metrics", { headers })).status, 304);
    const head = await api.ask("/metrics", { method: "HEAD" });
    t.equal(head.headers["content-type"], first.headers["content-type"]);
    t.equal(Number(head.headers["content-length"]), Buffer.byteLength(first.text));
    t.equal((await api.ask("/metrics", { method: "POST" })).status, 405);
    t.equal(first.headers["access-control-allow-origin"], "*");
  });

  await t.test("a scrape counts for the rate limit", async (t) => {
    const limited = await serve(t, { pool, registry, rateLimit: 2 });
    for (const left of ["remaining=1", "remaining=0"]) t.match((await limited.ask("/metrics")).headers.ratelimit, left);
    const { status, headers } = await limited.ask("/metrics");
    t.equal(status, 429);
    t.ok(headers["retry-after"]);
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
    for (const family of [
      "svc_component_state",
      "svc_component_state_region",
      "svc_latency_seconds",
      "svc_incident_open",
    ])
      t.ok(seen[family]!.series.some(({ labels }) => labels.venue === name));
    t.ok(seen["svc_latency_seconds"]!.series.some(({ labels }) => labels.region === name));
  });
});
