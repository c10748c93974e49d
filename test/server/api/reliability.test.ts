/** `/v1/reliability` compares venues, and agrees with their own pages. */
import t from "tap";
import { sql, type Pool } from "../../../shared/database/pool.js";
import { migrate } from "../../../server/database/migrate.js";
import { makeLog } from "../../../shared/log/log.js";
import { packagedFile } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, decide, forget, measured, pastIncident } from "../../support/fleet.js";
import { compared, type Row, rowOf } from "../../support/reliability.js";

/** This many hours before `until`, each with these latencies at its start, of one endpoint from one region. */
async function hours(pool: Pool, venue: string, latenciesMs: number[], count: number, until: Date): Promise<void> {
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, latency_us)
    select
      date_trunc('hour', ${until}::timestamptz) - h * interval '1 hour' + l.n * interval '1 second',
      c.component_id, g.region_id, true, l.ms * 1000
    from component c
    join venue v using (venue_id)
    cross join region g
    cross join generate_series(1, ${count}::int) h
    cross join unnest(${latenciesMs}::int[]) with ordinality as l (ms, n)
    where v.venue = ${venue} and c.component = 'rest:ticker' and g.region = 'eu-central'
  `);
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

void t.test("just after midnight, windows and incident counts agree", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  const midnight = Math.floor(Date.now() / dayMs) * dayMs - dayMs;
  const at = new Date(midnight + 90_000);
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
  for (const startedAt of [midnight - 1, midnight, midnight + 10_000])
    await pastIncident(pool, {
      ...{ venue: "okx", component: "rest:book", minutes: 1 },
      startedAt: new Date(startedAt),
    });
  const api = await serve(t, { pool, registry });
  type Table = Record<string, string>[];

  for (const [days, incidents, minutes] of [
    [1, 2, 2],
    [2, 3, 22],
    [90, 3, 22],
  ] as const) {
    const path = `/v1/incidents?days=${days}&format=csv`;
    const { body } = await api.ask<Table>(path);
    t.equal(body.length, incidents, `${days} days`);
    const row = rowOf(await compared(api, `?days=${days}`), "okx");
    t.equal(row.incidents, incidents, "as many incidents as are counted");
    const { windowFrom, windowTo, windowMeasuredMinutes } = body[0]!;
    t.equal(windowFrom, new Date(midnight - (days - 1) * dayMs).toISOString(), "the window begins at midnight");
    t.equal(windowTo, at.toISOString());
    t.equal(windowMeasuredMinutes, String(minutes));
    t.equal(row.measuredMinutes, minutes);
    const windowMs = Date.parse(windowTo!) - Date.parse(windowFrom!);
    t.ok(minutes <= Math.ceil(windowMs / 60_000), "no more minutes than the window has");
  }
});

void t.test("the comparison of venues", async (t) => {
  const { pool } = await migratedDatabase(t);
  const registry = await loadRegistry(packagedFile("registry-all.json"));
  await migrate(pool, registry, makeLog("test", "warn"));
  const fresh = () => serve(t, { pool, registry });

  await t.test("spec: an allowed category without measured venues is 200 with an empty list", async (t) => {
    await forget(pool);
    const few = await loadRegistry(packagedFile("registry.json"));
    await migrate(pool, few, makeLog("test", "warn"));
    const none = await compared(await serve(t, { pool, registry: few }), "?category=oracle");
    t.strictSame(none.fleet, {
      venues: 0,
      uptimePct: null,
      measuredMinutes: 0,
      scheduledMinutes: 0,
      coveragePct: null,
      uptimePctLow: null,
      uptimePctHigh: null,
      typicalP50Ms: null,
      typicalP95Ms: null,
      typicalHours: 0,
      incidents: 0,
    });
    t.strictSame(none.venues, []);
    await migrate(pool, registry, makeLog("test", "warn"));
    const unmeasured = await compared(await fresh(), "?category=oracle");
    t.equal(unmeasured.venues.length, 3);
    t.match(unmeasured.venues[0], {
      measuredDays: 0,
      measuredMinutes: 0,
      uptimePct: null,
      typicalP50Ms: null,
      meanIncidentSeconds: null,
    });
    t.equal(unmeasured.fleet.uptimePct, null, "an unmeasured venue has no uptime");
  });

  await t.test("spec: fleet describes only the rows returned, after the category filter", async (t) => {
    await forget(pool);
    await measured(pool, { from: ago(600), to: ago(0), latencyMs: 100 });
    await measured(pool, { ...{ from: ago(600), to: ago(0), latencyMs: 900 }, venue: "redstone" });
    await measured(pool, { ...{ from: ago(600), to: ago(300), venue: "dia", fault: "http" } });
    for (const venue of ["dia", "okx", "okx"])
      await pastIncident(pool, {
        ...{ venue, component: venue === "okx" ? "rest:book" : "rest:price" },
        ...{ startedAt: ago(60), minutes: 1 },
      });
    await decide(pool);
    const api = await fresh();
    const all = await compared(api);
    const oracles = await compared(api, "?category=oracle");
    t.strictSame(
      oracles.venues,
      all.venues.filter(({ category }) => category === "oracle"),
      "the same rows as without a filter",
    );
    for (const { fleet, venues } of [all, oracles]) {
      t.equal(fleet.venues, venues.length);
      t.equal(fleet.incidents, sum(venues, "incidents"));
      const measuredMinutes = sum(venues, "measuredMinutes");
      const share = 1 - sum(venues, "downMinutes") / measuredMinutes;
      t.equal(fleet.uptimePct, Math.floor(share * 1e5) / 1e3);
    }
    t.not(oracles.fleet.uptimePct, all.fleet.uptimePct);
    t.equal(all.venues.length, registry.venues.length);
    const uptimes = all.venues.map(({ uptimePct }) => uptimePct!);
    t.strictSame(
      uptimes,
      uptimes.toSorted((a, b) => b - a),
      "the most available venue first",
    );
  });

  await t.test("spec: summary on the venue detail is the row of /v1/reliability", async (t) => {
    const api = await fresh();
    const all = await compared(api);
    t.equal(all.days, 90);
    for (const { id } of registry.venues) {
      const { body } = await api.ask<{ summary: Row; generatedAt: string }>(`/v1/targets/${id}`);
      t.equal(body.generatedAt, all.generatedAt);
      t.strictSame(body.summary, rowOf(all, id), id);
    }
  });

  await t.test(
    "typical latencies are medians of hours, and the median never exceeds the 95th percentile",
    async (t) => {
      await forget(pool);
      // 20 samples an hour, so that the 95th percentile comes from the last two
      const even = Array.from({ length: 20 }, () => 100);
      // a closed hour, even if the clock passes a full hour meanwhile
      const until = ago(3600);
      await hours(pool, "okx", [...even.slice(2), 500, 500], 9, until);
      await hours(pool, "kraken", even, 3, until);
      await pool.query(sql`call upkeep.refresh('sample_hour', now() - interval '2 days', now() + interval '1 hour')`);
      await decide(pool);
      const api = await fresh();
      const all = await compared(api, "?days=2");
      t.match(rowOf(all, "okx"), { ...{ typicalP50Ms: 100, typicalP95Ms: 500, typicalHours: 9 } });
      t.match(rowOf(all, "kraken"), { typicalP50Ms: 100, typicalP95Ms: 100 });
      t.match(all.fleet, { typicalP50Ms: 100, typicalP95Ms: 500 }, "from nine of twelve hours, not a mean of the rows");
    },
  );

  await t.test("a window has whole UTC days, in every column", async (t) => {
    await forget(pool);
    const today = new Date(new Date().toISOString().slice(0, 10));
    const yesterday = new Date(+today - 1000);
    for (const startedAt of [today, yesterday])
      await pastIncident(pool, { ...{ venue: "okx", component: "rest:book", startedAt, minutes: 1 } });
    await pastIncident(pool, {
      ...{ venue: "okx", component: "rest:time", minutes: null },
      ...{ startedAt: today, severity: "degraded" },
    });
    await pastIncident(pool, {
      ...{ venue: "okx", component: "rest:ticker", minutes: 5 },
      ...{ startedAt: today, retracted: true },
    });
    await decide(pool);
    const api = await fresh();
    t.match(rowOf(await compared(api, "?days=1"), "okx"), {
      days: 1,
      incidents: 2,
      outages: 1,
      openIncidents: 1,
      meanIncidentSeconds: 60,
    });
    t.equal(rowOf(await compared(api, "?days=2"), "okx").incidents, 3);
    for (const days of [1, 2, 90]) {
      const { venues } = await compared(api, `?days=${days}`);
      const { body } = await api.ask<{ incidents: { venue: string }[] }>(`/v1/incidents?days=${days}`);
      for (const { id, incidents } of venues)
        t.equal(
          body.incidents.filter(({ venue }) => venue === id).length,
          incidents,
          `${days} days of ${id}: every counted incident is listed`,
        );
    }
  });

  await t.test("a continuing outage counts as the longest", async (t) => {
    await forget(pool);
    const startedAt = ago(3 * 86_400);
    for (const [component, minutes] of [
      ["rest:book", 1],
      ["rest:time", 3],
      ["rest:ticker", null],
    ] as const)
      await pastIncident(pool, { ...{ venue: "okx", component, minutes, startedAt } });
    await decide(pool);
    const all = await compared(await fresh());
    const row = rowOf(all, "okx");
    t.equal(row.meanIncidentSeconds, 120, "the mean of closed incidents");
    const lasted = (Date.parse(all.generatedAt) - +startedAt) / 1000;
    t.ok(Math.abs(row.longestIncidentSeconds! - lasted) <= 1, "until now");
  });

  await t.test("spec: days of /v1/reliability is 1 to 90, by default 90", async (t) => {
    const api = await fresh();
    for (const days of [1, 90]) t.equal((await compared(api, `?days=${days}`)).days, days);
    t.equal((await compared(api)).days, 90);
    for (const days of ["0", "91", "x", ""]) t.equal((await api.ask(`/v1/reliability?days=${days}`)).status, 400);
  });
});

function sum(rows: Row[], column: "incidents" | "downMinutes" | "measuredMinutes") {
  return rows.reduce((total, row) => total + row[column], 0);
}
