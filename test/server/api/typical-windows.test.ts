/** Typical latencies of every window of `/v1/reliability`, compared with medians computed by hand. */
import t, { type Test } from "tap";
import { type Pool, sql } from "../../../shared/database/pool.js";
import { serve } from "../../support/api.js";
import { migratedDatabase } from "../../support/database.js";
import { randomFrom } from "../../support/random-samples.js";
import { comparison, rowOf } from "../../support/reliability.js";
import { roundHalfEven } from "../../support/rollup-model.js";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

void t.test("typical latencies of every window agree with a computation by hand", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
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
    const [hours] = await pool.query<{ kept: number; counted: number }>(sql`
      select
        (select sum(hours) from usual_hour)::int as kept,
        (
          select 2 * count(*) from sample_hour
          where good >= 10 and hour < (select max(bucket) + interval '5 days' from usual_hour)
        )::int as counted
    `);
    t.equal(hours!.kept, hours!.counted, "no hour is counted twice");
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
