/** `/v1/reliability`: how venues compare, and how it agrees with their own pages. */
import t from "tap";
import { sql, type Pool } from "../server/db.js";
import { migrate } from "../server/migrate.js";
import { makeLog } from "../server/log.js";
import { packagedFile } from "../server/package.js";
import { loadRegistry } from "../server/registry.js";
import { type Api, serve } from "./api.js";
import { migratedDatabase } from "./database.js";
import { ago, decide, forget, measured, pastIncident } from "./fleet.js";

interface Reliability {
  generatedAt: string;
  days: number;
  fleet: {
    venues: number;
    uptimePct: number | null;
    typicalP50Ms: number | null;
    typicalP95Ms: number | null;
    incidents: number;
  };
  venues: Row[];
}

interface Row {
  id: string;
  category: string;
  days: number;
  measuredDays: number;
  measuredMinutes: number;
  downMinutes: number;
  uptimePct: number | null;
  typicalP50Ms: number | null;
  typicalP95Ms: number | null;
  incidents: number;
  outages: number;
  openIncidents: number;
  meanIncidentSeconds: number | null;
  longestIncidentSeconds: number | null;
}

async function compared(api: Api, query = ""): Promise<Reliability> {
  return (await api.ask<Reliability>(`/v1/reliability${query}`)).body;
}

function rowOf({ venues }: Reliability, id: string): Row {
  return venues.find((row) => row.id === id)!;
}

/** So many hours, each with these latencies at its start, of one endpoint from one region. */
async function hours(
  pool: Pool,
  venue: string,
  latenciesMs: number[],
  count: number,
): Promise<void> {
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, latency_us)
    select
      date_trunc('hour', now()) - h * interval '1 hour' + l.n * interval '1 second',
      c.component_id, g.region_id, true, l.ms * 1000
    from component c
    join venue v using (venue_id)
    cross join region g
    cross join generate_series(1, ${count}::int) h
    cross join unnest(${latenciesMs}::int[]) with ordinality as l (ms, n)
    where v.venue = ${venue} and c.component = 'rest:ticker' and g.region = 'eu-central'
  `);
}

void t.test("venues compared", async (t) => {
  const { pool } = await migratedDatabase(t);
  const registry = await loadRegistry(packagedFile("registry-all.json"));
  await migrate(pool, registry, makeLog("test", "warn"));
  const fresh = () => serve(t, { pool, registry });

  await t.test(
    "spec: an allowed category without measured venues is 200 with an empty list",
    async (t) => {
      await forget(pool);
      const few = await loadRegistry(packagedFile("registry.json"));
      await migrate(pool, few, makeLog("test", "warn"));
      const none = await compared(
        await serve(t, { pool, registry: few }),
        "?category=oracle",
      );
      t.strictSame(none.fleet, {
        venues: 0,
        uptimePct: null,
        typicalP50Ms: null,
        typicalP95Ms: null,
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
      t.equal(unmeasured.fleet.uptimePct, null, "not measured is not up");
    },
  );

  await t.test(
    "spec: fleet describes only the rows returned, after the category filter",
    async (t) => {
      await forget(pool);
      await measured(pool, { from: ago(600), to: ago(0), latencyMs: 100 });
      await measured(pool, {
        ...{ from: ago(600), to: ago(0), latencyMs: 900 },
        venue: "redstone",
      });
      await measured(pool, {
        ...{ from: ago(600), to: ago(300), venue: "dia", fault: "http" },
      });
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
        "the most available first",
      );
    },
  );

  await t.test(
    "spec: summary on the venue detail is the row of /v1/reliability",
    async (t) => {
      const api = await fresh();
      const all = await compared(api);
      t.equal(all.days, 90);
      for (const { id } of registry.venues) {
        const { body } = await api.ask<{ summary: Row; generatedAt: string }>(
          `/v1/targets/${id}`,
        );
        t.equal(body.generatedAt, all.generatedAt);
        t.strictSame(body.summary, rowOf(all, id), id);
      }
    },
  );

  await t.test(
    "typical latencies are medians of hours, and the one is never above the other",
    async (t) => {
      await forget(pool);
      // 20 samples an hour, so that the 95th percentile is of the last two
      const even = Array.from({ length: 20 }, () => 100);
      await hours(pool, "okx", [...even.slice(2), 500, 500], 9);
      await hours(pool, "kraken", even, 3);
      await pool.query(
        sql`call upkeep.refresh('sample_hour', now() - interval '2 days', now() + interval '1 hour')`,
      );
      await decide(pool);
      const api = await fresh();
      const all = await compared(api, "?days=2");
      t.match(rowOf(all, "okx"), { typicalP50Ms: 100, typicalP95Ms: 500 });
      t.match(rowOf(all, "kraken"), { typicalP50Ms: 100, typicalP95Ms: 100 });
      t.match(
        all.fleet,
        { typicalP50Ms: 100, typicalP95Ms: 500 },
        "nine of twelve hours: no mean of the rows",
      );
    },
  );

  await t.test("a window is of whole UTC days, in every column", async (t) => {
    await forget(pool);
    const today = new Date(new Date().toISOString().slice(0, 10));
    const yesterday = new Date(+today - 1000);
    for (const startedAt of [today, yesterday])
      await pastIncident(pool, {
        ...{ venue: "okx", component: "rest:book", startedAt, minutes: 1 },
      });
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
      longestIncidentSeconds: 60,
    });
    t.equal(rowOf(await compared(api, "?days=2"), "okx").incidents, 3);
  });

  await t.test(
    "spec: days of /v1/reliability is 1 to 90, by default 90",
    async (t) => {
      const api = await fresh();
      for (const days of [1, 90])
        t.equal((await compared(api, `?days=${days}`)).days, days);
      t.equal((await compared(api)).days, 90);
      for (const days of ["0", "91", "x", ""])
        t.equal((await api.ask(`/v1/reliability?days=${days}`)).status, 400);
    },
  );
});

function sum(
  rows: Row[],
  column: "incidents" | "downMinutes" | "measuredMinutes",
) {
  return rows.reduce((total, row) => total + row[column], 0);
}
