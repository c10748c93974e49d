/** Figures are of the instant that their body shows: samples, comparisons, percentiles and heartbeats. */
import t from "tap";
import { figureRules } from "../../../server/api/figure-rules.js";
import { sql } from "../../../shared/database/pool.js";
import { accepted, tick } from "../../../server/engine/tick.js";
import { migratedDatabase } from "../../support/database.js";
import { ago, forget, measured } from "../../support/fleet.js";
import { member } from "../../support/member.js";
import { anotherWeb, arrive } from "../../support/as-of.js";

void t.test("late samples appear from the next tick on", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  await measured(pool, { from: ago(400), to: ago(0), venue: "kraken" });
  accepted(await tick(pool, new Date()));
  interface Page {
    generatedAt: string;
    endpoints: { component: string; samples: number; newestAt: string }[];
    regions: { compare: { samples: number; newestAt: string }[] };
  }
  const page = async () => (await (await anotherWeb(t, database)).ask<Page>("/v1/targets/kraken")).body;
  const counted = ({ endpoints, regions }: Page) => ({
    ticker: endpoints.find(({ component }) => component === "rest:ticker")!.samples,
    regions: regions.compare.map(({ samples }) => samples),
  });
  const before = await page();
  await arrive(pool, "kraken", ago(300), ago(290));
  await arrive(pool, "kraken", ago(4), ago(0));
  t.strictSame(await page(), before, "the tick that did not know them does not show them");
  for (const { newestAt } of [...before.endpoints, ...before.regions.compare])
    t.ok(newestAt <= before.generatedAt, "no shown time is later than the instant");

  await pool.query(sql`select pg_sleep(2.5)`);
  accepted(await tick(pool, new Date()));
  const after = counted(await page());
  t.ok(after.ticker > counted(before).ticker);
  for (const [i, samples] of after.regions.entries()) t.ok(samples > counted(before).regions[i]!);
});

void t.test("regions are compared over exactly the requested range", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  // every kind of component, with its values when a sample is bad
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us, received_after_s)
    select
      at, component_id, region_id, luck % 20 > 0,
      case when luck % 20 = 0 then 'timeout'::fault end,
      -- opening a socket takes long, and is no answer of REST
      case when kind = 'rest' or component = 'ws:conn'
        then 1000 * (luck % 37) * (1 + region_id) + luck % 1009 + case when kind = 'ws' then 900000 else 0 end end,
      luck % 3
    from component
    join venue using (venue_id)
    cross join region
    cross join generate_series(now() - interval '7 days 2 hours', now() - interval '1 second', interval '499 s') as at
    cross join lateral (select abs(hashint8(extract(epoch from at)::bigint * 64 + component_id)) as luck) drawn
    where venue = 'okx'
  `);
  type Compared = { region: string } & Record<"samples" | "goodPct" | "answers" | "p50Ms" | "p95Ms", number>;

  async function areThoseOfRaw(when: string) {
    const web = await anotherWeb(t, database);
    for (const range of ["24h", "7d"]) {
      type Page = { generatedAt: string; regions: { compare: Compared[] } };
      const { body } = await web.ask<Page>(`/v1/targets/okx?range=${range}`);
      const wholeMs = (share: number) =>
        sql`round(percentile_cont(${share}::double precision) within group (order by latency_us) filter (where good and kind = 'rest') / 1000)::int`;
      const expected = await pool.query<Compared>(sql`
        select
          region, count(*)::int as samples,
          trunc(100.0 * count(*) filter (where good) / count(*), 3)::float8 as "goodPct",
          (count(*) filter (where good and kind = 'rest'))::int as answers, ${wholeMs(0.5)} as "p50Ms", ${wholeMs(0.95)} as "p95Ms"
        from sample
        join component using (component_id) join venue using (venue_id) join region using (region_id)
        where venue = 'okx'
          and ts > ${body.generatedAt}::timestamptz - ${range}::interval and ts <= ${body.generatedAt}
          and ts + received_after_s * interval '1 second' <= ${body.generatedAt}
        group by region, region.position
        order by region.position
      `);
      t.ok(expected[0]!.answers > 100);
      const shown = body.regions.compare.map(({ region, samples, goodPct, answers, p50Ms, p95Ms }) => {
        return { region, samples, goodPct, answers, p50Ms, p95Ms };
      });
      t.strictSame(shown, expected, `${when}, ${range}`);
    }
  }
  accepted(await tick(pool, new Date()));
  await areThoseOfRaw("entirely from raw samples");
  await pool.query(sql`call upkeep.refresh_over_hours(now() - upkeep.late_window(), now())`);
  accepted(await tick(pool, new Date()));
  await areThoseOfRaw("from stored hours and the samples around them");
});

void t.test("too few answers give no percentile", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const [floors] = await pool.query(sql`
    select p50_min_answers, p95_min_answers, uptime_min_coverage
    from api.p50_min_answers(), api.p95_min_answers(), api.uptime_min_coverage()
  `);
  const rules = Object.fromEntries(figureRules.map(({ name, value }) => [name, value]));
  t.strictSame(floors, rules, "SQL uses the published numbers");
  interface Page {
    endpoints: { component: string }[];
    latency: { points: Point[] };
    regions: { compare: object[] };
  }
  type Point = { p50Ms: number | null; samples: number };
  const respectsFloor = ({ p50Ms, samples }: Point) => p50Ms === (samples < 3 ? null : 80);
  const at = Math.floor(Date.now() / 1000) * 1000 - 200_000;
  for (const [answers, p50Ms, p95Ms] of [
    [2, null, null],
    [3, 80, null],
    [9, 80, null],
    [10, 80, 80],
  ] as const) {
    await forget(pool);
    await pool.query(sql`
      insert into sample (ts, component_id, region_id, good, latency_us)
      select ${new Date(at)}::timestamptz + n * interval '5 seconds', component_id, region_id, true, 80000
      from component join venue using (venue_id) cross join region cross join generate_series(1, ${answers}::int) n
      where venue = 'okx' and component = 'rest:ticker' and region = 'eu-central'
    `);
    await pool.query(sql`call upkeep.refresh_all(${ago(4_000)}, ${new Date()})`);
    accepted(await tick(pool, new Date()));
    const web = await anotherWeb(t, database);
    const { endpoints, latency, regions } = (await web.ask<Page>("/v1/targets/okx")).body;
    const ticker = endpoints.find(({ component }) => component === "rest:ticker");
    const expected = { answers, p50Ms, p95Ms };
    t.match([ticker, ...regions.compare], [expected, expected, { answers: 0, p50Ms: null, p95Ms: null }]);
    t.ok(latency.points.every(respectsFloor));
    const board = await web.ask<{ venues: { id: string; sparkline: Point[] }[] }>("/v1/status");
    const { sparkline } = board.body.venues.find(({ id }) => id === "okx")!;
    const shown = sparkline.reduce((all, { samples }) => all + samples, 0);
    t.equal(shown, answers);
    t.ok(sparkline.every(respectsFloor));
  }
});

void t.test("typical latencies have the instant as of which they hold", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  interface Board {
    generatedAt: string;
    summary: { medianLatencyMs: number | null; medianLatencyAsOf: string | null };
    venues: { typicalMs: number | null; typicalAsOf: string | null }[];
  }
  const typical = async () => (await (await anotherWeb(t, database)).ask<Board>("/v1/status")).body;
  const decide = async () => accepted(await tick(pool, new Date()));
  const none = { medianLatencyMs: null, medianLatencyAsOf: null };
  await measured(pool, { from: ago(900), to: ago(0), latencyMs: 80 });
  await decide();
  t.match((await typical()).summary, none);

  await pool.query(sql`call upkeep.refresh_late(clock_timestamp())`);
  t.match((await typical()).summary, none, "not before the next tick");
  await decide();
  const first = await typical();
  t.equal(first.summary.medianLatencyMs, 80);
  t.ok(first.summary.medianLatencyAsOf! <= first.generatedAt);
  for (const { typicalMs, typicalAsOf } of first.venues)
    t.strictSame([typicalMs, typicalAsOf], [80, first.summary.medianLatencyAsOf]);

  await measured(pool, { from: ago(900), to: ago(0), latencyMs: 120 });
  await decide();
  t.strictSame((await typical()).summary, first.summary, "unchanged over any number of ticks");
  await pool.query(sql`call upkeep.refresh_late(clock_timestamp())`);
  await decide();
  const second = await typical();
  t.equal(second.summary.medianLatencyMs, 120);
  t.ok(second.summary.medianLatencyAsOf! > first.summary.medianLatencyAsOf!);
});

void t.test("a probe's heartbeat after the instant is not shown", async (t) => {
  const database = await migratedDatabase(t);
  const { pool } = database;
  const read = async () => {
    const web = await anotherWeb(t, database);
    type Fleet = { generatedAt: string; regions: { probes: { id: string; seenAt: string }[] }[] };
    const { generatedAt, regions } = (await web.ask<Fleet>("/v1/regions")).body;
    const probes = regions.flatMap((region) => region.probes);
    t.ok(probes.every(({ seenAt }) => seenAt <= generatedAt));
    return { generatedAt, probes };
  };
  const probe = member(pool);
  const decidedLater = async (at: Date) => {
    await pool.query(sql`select pg_sleep(0.02)`);
    await probe.renew();
    accepted(await tick(pool, at, { now: null }));
  };
  await decidedLater(new Date());
  t.strictSame((await read()).probes, [], "the probe did not exist at the instant");

  // at every tick, and always between the instant and its decision
  let before = new Date();
  await decidedLater(before);
  for (let round = 0; round < 3; round += 1) {
    const at = new Date();
    await decidedLater(at);
    const { generatedAt, probes } = await read();
    t.equal(generatedAt, at.toISOString());
    t.equal(probes.length, 1);
    t.ok(probes[0]!.seenAt >= before.toISOString(), "the last heartbeat before the instant is shown");
    before = at;
  }
  const [kept] = await pool.query<{ n: number }>(sql`select count(*)::int as n from shown_probe`);
  t.equal(kept!.n, 2, "the shown heartbeat and the next one are stored");
  const at = new Date();
  await pool.query(sql`select pg_sleep(0.02)`);
  await probe.leave();
  accepted(await tick(pool, at, { now: null }));
  t.equal((await read()).probes.length, 1, "the probe says goodbye only after the instant");
});

void t.test("what a probe whose clock is ahead reports of itself is not newer than the answer", async (t) => {
  const database = await migratedDatabase(t);
  const ahead = ago(-40);
  const probe = member(database.pool, {
    startedAt: ahead,
    troubles: [{ kind: "clock", since: ahead, detail: "40 s ahead" }],
  });
  await probe.renew();
  accepted(await tick(database.pool, new Date(), { now: null }));
  const web = await anotherWeb(t, database);
  type Fleet = {
    generatedAt: string;
    regions: {
      id: string;
      probeStartedAt: string;
      probes: { startedAt: string; seenAt: string }[];
      troubles: { since: string }[];
    }[];
  };
  const { generatedAt, regions } = (await web.ask<Fleet>("/v1/regions")).body;
  const { probeStartedAt, probes, troubles } = regions.find(({ id }) => id === "us-east")!;
  const [{ startedAt, seenAt }] = probes as [Fleet["regions"][0]["probes"][0]];
  t.ok(seenAt <= generatedAt);
  t.same([probeStartedAt, startedAt, troubles[0]!.since], [seenAt, seenAt, seenAt]);
});
