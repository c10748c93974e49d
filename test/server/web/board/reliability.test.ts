/** `/v1/reliability` compares venues, and agrees with their own pages. */
import t, { type Test } from "tap";
import { sql, type Pool } from "../../../../shared/database/pool.js";
import { migrate } from "../../../../server/database/migrate.js";
import { makeLog } from "../../../../shared/log/log.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { watchedVenues } from "../../../../shared/registry/chain-venues.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, forget, measured, type PastIncident, pastIncident } from "../../../support/fleet.js";
import { randomFrom } from "../../../support/random-samples.js";
import { comparison, type Row, rowOf } from "../../../support/reliability.js";
import { roundHalfEven } from "../../../support/rollup-model.js";

const database = await migratedDatabase(t);

/** This many hours before `until`, each with these latencies at its start, of one endpoint from one region. */
async function hours(pool: Pool, venue: string, latenciesMs: number[], count: number, until: Date): Promise<void> {
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, latency_us)
    select
      date_trunc('hour', ${until}::timestamptz) - h * interval '1 hour' + l.n * interval '1 second',
      c.component_id, g.region_id, true, l.ms * 1000
    from component c join venue v using (venue_id) cross join region g
    cross join generate_series(1, ${count}::int) h
    cross join unnest(${latenciesMs}::int[]) with ordinality as l (ms, n)
    where v.venue = ${venue} and c.component = 'rest:ticker' and g.region = 'eu-central'
  `);
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

void t.test("the comparison of venues", async (t) => {
  const { pool } = database;
  const registry = await loadRegistry(packagedFile("registry/all.json"));
  const log = makeLog("test", "warn");
  await migrate(pool, registry, log);
  const past = (component: string, startedAt: Date, minutes: number | null, other: Partial<PastIncident> = {}) =>
    pastIncident(pool, { venue: "okx", component, startedAt, minutes, ...other });
  const fresh = () => serve(t, { pool, registry });

  await t.test("spec: an allowed category without measured venues is 200 with an empty list", async (t) => {
    await forget(pool);
    const few = await loadRegistry(packagedFile("registry/exchanges.json"));
    await migrate(pool, few, log);
    const none = await comparison(await serve(t, { pool, registry: few }), "?category=oracle");
    const uptime = { uptimePct: null, coveragePct: null, uptimePctLow: null, uptimePctHigh: null };
    const typical = { typicalP50Ms: null, typicalP95Ms: null, typicalHours: 0 };
    const counts = { venues: 0, measuredMinutes: 0, scheduledMinutes: 0, incidents: 0, withoutMaintenance: null };
    t.strictSame([none.fleet, none.venues], [{ ...uptime, ...typical, ...counts }, []]);
    await migrate(pool, registry, log);
    const unmeasured = await comparison(await fresh(), "?category=oracle");
    t.equal(unmeasured.venues.length, registry.venues.filter(({ category }) => category === "oracle").length);
    const unknown = { uptimePct: null, typicalP50Ms: null, meanIncidentSeconds: null };
    t.match(unmeasured.venues[0], { measuredDays: 0, measuredMinutes: 0, ...unknown });
    t.equal(unmeasured.fleet.uptimePct, null, "an unmeasured venue has no uptime");
  });

  await t.test("spec: fleet describes only the rows returned, after the category filter", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(600), to: ago(0), latencyMs: 100 });
    await measured(pool, { from: ago(600), to: ago(0), latencyMs: 900, venue: "redstone" });
    await measured(pool, { from: ago(600), to: ago(300), venue: "dia", fault: "http" });
    await past("rest:price", ago(60), 1, { venue: "dia" });
    for (let nth = 0; nth < 2; nth++) await past("rest:book", ago(60), 1);
    await decide(pool);
    const api = await fresh();
    const all = await comparison(api);
    const oracles = await comparison(api, "?category=oracle");
    const ofOracles = all.venues.filter(({ category }) => category === "oracle");
    t.strictSame(oracles.venues, ofOracles, "the same rows as without a filter");
    for (const { fleet, venues } of [all, oracles]) {
      t.strictSame([fleet.venues, fleet.incidents], [venues.length, sum(venues, "incidents")]);
      const measuredMinutes = sum(venues, "measuredMinutes");
      const share = 1 - sum(venues, "downMinutes") / measuredMinutes;
      t.equal(fleet.uptimePct, Math.floor(share * 1e5) / 1e3);
    }
    t.not(oracles.fleet.uptimePct, all.fleet.uptimePct);
    t.equal(all.venues.length, watchedVenues(registry).length);
    const uptimes = all.venues.map(({ uptimePct }) => uptimePct!);
    const sorted = uptimes.toSorted((a, b) => b - a);
    t.strictSame(uptimes, sorted, "the most available venue first");
  });

  await t.test("spec: summary on the venue detail is the row of /v1/reliability", async (t) => {
    const api = await fresh();
    const all = await comparison(api);
    t.equal(all.days, 90);
    for (const { id } of registry.venues) {
      const { summary, generatedAt } = (await api.ask<{ summary: Row; generatedAt: string }>(`/v1/targets/${id}`)).body;
      t.strictSame([summary, generatedAt], [rowOf(all, id), all.generatedAt], id);
    }
  });

  await t.test("typical latencies are medians of hours, and never exceed the 95th percentile", async (t) => {
    await forget(pool);
    // 20 samples an hour, so that the 95th percentile comes from the last two
    const even = Array.from({ length: 20 }, () => 100);
    // a closed hour, even if the clock passes a full hour meanwhile
    const until = ago(3600);
    await hours(pool, "okx", [...even.slice(2), 500, 500], 9, until);
    await hours(pool, "kraken", even, 3, until);
    await pool.query(sql`call upkeep.refresh('sample_hour', now() - interval '2 days', now() + interval '1 hour')`);
    await decide(pool);
    const all = await comparison(await fresh(), "?days=2");
    t.match(rowOf(all, "okx"), { typicalP50Ms: 100, typicalP95Ms: 500, typicalHours: 9 });
    t.match(rowOf(all, "kraken"), { typicalP50Ms: 100, typicalP95Ms: 100 });
    t.match(all.fleet, { typicalP50Ms: 100, typicalP95Ms: 500 }, "from nine of twelve hours, not a mean of the rows");
  });

  await t.test("a window has whole UTC days, in every column", async (t) => {
    await forget(pool);
    const today = new Date(new Date().toISOString().slice(0, 10));
    for (const startedAt of [today, new Date(+today - 1000)]) await past("rest:book", startedAt, 1);
    await past("rest:time", today, null, { severity: "degraded" });
    await past("rest:ticker", today, 5, { retracted: true });
    await decide(pool);
    const api = await fresh();
    const ofToday = { days: 1, incidents: 2, outages: 1, openIncidents: 1, meanIncidentSeconds: 60 };
    t.match(rowOf(await comparison(api, "?days=1"), "okx"), ofToday);
    t.equal(rowOf(await comparison(api, "?days=2"), "okx").incidents, 3);
    for (const days of [1, 2, 90]) {
      const { venues } = await comparison(api, `?days=${days}`);
      const { body } = await api.ask<{ incidents: { venue: string }[] }>(`/v1/incidents?days=${days}`);
      for (const { id, incidents } of venues) {
        const listed = body.incidents.filter(({ venue }) => venue === id);
        t.equal(listed.length, incidents, `${days} days of ${id}: every counted incident is listed`);
      }
    }
  });

  await t.test("a continuing outage counts as the longest", async (t) => {
    await forget(pool);
    const startedAt = ago(3 * 86_400);
    await past("rest:book", startedAt, 1);
    await past("rest:time", startedAt, 3);
    await past("rest:ticker", startedAt, null);
    await decide(pool);
    const all = await comparison(await fresh());
    const row = rowOf(all, "okx");
    t.equal(row.meanIncidentSeconds, 120, "the mean of closed incidents");
    const lasted = (Date.parse(all.generatedAt) - +startedAt) / 1000;
    t.ok(Math.abs(row.longestIncidentSeconds! - lasted) <= 1, "until now");
  });

  await t.test("spec: days of /v1/reliability is 1 to 90, by default 90", async (t) => {
    const api = await fresh();
    for (const days of [1, 90]) t.equal((await comparison(api, `?days=${days}`)).days, days);
    t.equal((await comparison(api)).days, 90);
    for (const days of ["0", "91", "x", ""]) t.equal((await api.ask(`/v1/reliability?days=${days}`)).status, 400);
  });
});

function sum(rows: Row[], column: "incidents" | "downMinutes" | "measuredMinutes") {
  return rows.reduce((total, row) => total + row[column], 0);
}

void t.test("typical latencies of every window agree with a computation by hand", async (t) => {
  const { pool, registry } = await emptied(database);
  const now = new Date();
  await sparseHours(pool, 24, now);
  await pool.query(sql`call upkeep.refresh('sample_hour', now() - interval '30 days', now() + interval '1 hour')`);
  const windows = [1, 2, 5, 8, 9, 10, 11, 12, 14, 20, 23, 24, 30, 90];

  async function areThoseByHand(t: Test) {
    const api = await serve(t, { pool, registry });
    for (const days of windows) {
      const { fleet, venues, generatedAt } = await comparison(api, `?days=${days}`);
      const byHand = await usualByHand(pool, days, generatedAt);
      t.match(fleet, byHand(null), `${days} days, all venues`);
      for (const row of venues) t.match(row, byHand(row.id), `${days} days, ${row.id}`);
    }
  }

  await t.test("agree before any bucket of five days is stored", async (t) => {
    t.equal(await keptBuckets(pool), 0, "no bucket, as after a migration");
    await areThoseByHand(t);
  });

  await t.test("agree with stored buckets of five days, and window edges within them", async (t) => {
    await pool.query(sql`call upkeep.refresh_all(now() - interval '2 days', now())`);
    t.ok((await keptBuckets(pool)) >= 4, "filled from the beginning, not only where refreshed");
    await areThoseByHand(t);
  });

  await t.test("agree after late samples", async (t) => {
    await insertLatencies(
      pool,
      await pool.query(sql`
        select s.component_id, s.region_id, s.ts + interval '1 second' as ts, 1000000 as latency_us
        from sample s
        where s.ts between now() - interval '6 days' and now() - interval '12 hours'
      `),
    );
    await pool.query(sql`call upkeep.refresh_late(now())`);
    await areThoseByHand(t);
  });

  await t.test("include components that are no longer watched", async (t) => {
    const okx = async () => rowOf(await comparison(await serve(t, { pool, registry })), "okx");
    const before = await okx();
    await pool.script("update component set published = false where component = 'rest:book'");
    const components = before.components.filter(({ component }) => component !== "rest:book");
    t.equal(components.length, before.components.length - 1);
    // the figures are unchanged; only the component's own row is gone
    t.strictSame(await okx(), { ...before, components });
  });
});

async function keptBuckets(pool: Pool): Promise<number> {
  const [row] = await pool.query<{ n: number }>(sql`select count(distinct bucket) as n from usual_hour`);
  return row!.n;
}

/** Nine to twelve samples in each of some hours of these days, of three endpoints of two venues, from two regions. */
async function sparseHours(pool: Pool, days: number, now: Date) {
  const random = randomFrom(5);
  const series = await pool.query<{ component_id: number; region_id: number }>(sql`
    select c.component_id, g.region_id
    from component c join venue v using (venue_id) cross join region g
    where (v.venue, c.component) in (('okx', 'rest:ticker'), ('okx', 'rest:book'), ('kraken', 'rest:time'))
      and g.region in ('eu-central', 'us-east')
  `);
  const firstHour = Math.floor(+now / hourMs) * hourMs;
  const samples = series.flatMap((of) =>
    Array.from({ length: (days * 24) / 4 }, (_, i) => {
      const hour = firstHour - (i * 4 + Math.floor(random() * 4)) * hourMs;
      // halves of milliseconds too, whose rounding must be the same everywhere
      const latency_us = Math.floor(random() * random() * 400) * 500;
      const length = 9 + Math.floor(random() * 4);
      return Array.from({ length }, (_, n) => ({ ...of, ts: new Date(hour + n * 60_000), latency_us }));
    }).flat(),
  );
  await insertLatencies(pool, samples);
}

async function insertLatencies(pool: Pool, samples: object[]) {
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, latency_us)
    select s.ts, s.component_id, s.region_id, true, s.latency_us
    from jsonb_to_recordset(${JSON.stringify(samples)}::jsonb)
      as s (ts timestamptz, component_id int, region_id smallint, latency_us int)
    on conflict do nothing
  `);
}

/** Medians of hours, sorted in plain TypeScript: the expected figures of a window. */
async function usualByHand(pool: Pool, days: number, at: string) {
  const hours = await pool.query<{ hour: Date; venue: string; p50_us: number; p95_us: number }>(sql`
    select h.hour, v.venue, h.p50_us, h.p95_us
    from sample_hour h join component c using (component_id) join venue v using (venue_id)
    where c.kind = 'rest' and h.p50_us is not null and h.good >= 10
      and h.hour < time_bucket('1 hour', (select published_to from api.clock))
  `);
  const today = Math.floor(Date.parse(at) / dayMs) * dayMs;
  const within = hours.filter(({ hour }) => +hour >= today - (days - 1) * dayMs);
  return (venue: string | null) => {
    const of = within.filter((row) => venue === null || row.venue === venue);
    const median = (us: number[]) => {
      const ms = us.map((one) => roundHalfEven(one / 1000)).sort((a, b) => a - b);
      const [lower, upper] = [ms[Math.floor((ms.length - 1) / 2)]!, ms[Math.floor(ms.length / 2)]!];
      return ms.length < 3 ? null : roundHalfEven((lower + upper) / 2);
    };
    return {
      typicalHours: of.length,
      typicalP50Ms: median(of.map(({ p50_us }) => p50_us)),
      typicalP95Ms: median(of.map(({ p95_us }) => p95_us)),
    };
  };
}

void t.test("just after midnight, windows and incident counts agree", async (t) => {
  const { pool, registry } = await emptied(database);
  const midnight = Math.floor(Date.now() / dayMs) * dayMs - dayMs;
  const at = new Date(midnight + 90_000);
  // last in this file: it replaces the clock
  await pool.text(
    `create or replace view api.clock as
      select
        true as engine_fresh, at as ticked_at, null::timestamptz as silent_at, at as generated_at,
        (at at time zone 'UTC')::date as today, at as published_to
      from (values (timestamptz '${at.toISOString()}')) as k (at)`,
    [],
  );
  const from = new Date(midnight - 20 * 60_000);
  await measured(pool, { from, to: at });
  await pool.query(sql`call upkeep.refresh_all(${from}, ${at})`);
  for (const startedAt of [midnight - 1, midnight, midnight + 10_000].map((ms) => new Date(ms)))
    await pastIncident(pool, { venue: "okx", component: "rest:book", minutes: 1, startedAt });
  const api = await serve(t, { pool, registry });

  for (const [days, incidents, minutes] of [
    [1, 2, 2],
    [2, 3, 22],
    [90, 3, 22],
  ] as const) {
    const { body } = await api.ask<Record<string, string>[]>(`/v1/incidents?days=${days}&format=csv`);
    t.equal(body.length, incidents, `${days} days`);
    const row = rowOf(await comparison(api, `?days=${days}`), "okx");
    t.strictSame([row.incidents, row.measuredMinutes], [incidents, minutes], "as many incidents as are counted");
    const { windowFrom, windowTo, windowMeasuredMinutes } = body[0]!;
    t.equal(windowFrom, new Date(midnight - (days - 1) * dayMs).toISOString(), "the window begins at midnight");
    t.strictSame([windowTo, windowMeasuredMinutes], [at.toISOString(), String(minutes)]);
  }
});
