/**
 * A venue's page over a day and over seven, read from stored hours and the samples around them, compared with the
 * samples alone; the least number of answers for a percentile; and since when a typical latency holds.
 */
import t from "tap";
import { figureRules } from "../../../../server/web/board/thresholds.js";
import { accepted, tick } from "../../../../server/core/engine/tick.js";
import { sql } from "../../../../shared/database/pool.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { emptied } from "../../../support/emptied.js";
import { ago, decide, forget, measured } from "../../../support/fleet.js";

type Row = { component: string; samples: number; goodPct: number | null };

interface Detail {
  generatedAt: string;
  latency: { points: { at: string; p50Ms: number | null; samples: number }[] };
  endpoints: (Row & Record<"p50Ms" | "p95Ms", number | null>)[];
  streams: (Row & Record<"messagesPerMinute" | "longestQuietMs" | "sequenceGaps", number | null>)[];
  regions: { compare: ({ region: string } & Record<"samples" | "goodPct" | "answers" | "p50Ms" | "p95Ms", number>)[] };
}

const database = await migratedDatabase(t);

/** In SQL, over good latencies. */
const wholeMs = (share: number, of = sql`good`) =>
  sql`round(percentile_cont(${share}::double precision) within group (order by latency_us) filter (where ${of}) / 1000)::int`;

void t.test("the percentiles and sums of a week are exact, to the sample", async (t) => {
  const { pool, registry } = database;
  const api = await serve(t, { pool, registry });
  const page = async (venue: string, query = "") => (await api.ask<Detail>(`/v1/targets/${venue}${query}`)).body;

  await measured(pool, { from: ago(100), to: ago(0) });
  // few distinct milliseconds with gaps between them, so that percentiles often fall between two
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us)
    select
      at, component_id, region_id, luck % 50 > 0,
      case when luck % 50 = 0 then 'timeout'::fault end,
      case when luck % 50 > 0 then 1000 * (luck % 7) * (1 + component_id % 3) + luck % 1009 end
    from component join venue using (venue_id) cross join region
    cross join generate_series(now() - interval '7 days 1 hour', now() - interval '2 minutes', interval '97 s') as at
    cross join lateral (select abs(hashint8(extract(epoch from at)::bigint * 64 + component_id)) as luck) drawn
    where venue = 'okx' and kind = 'rest' and region in ('eu-central', 'us-east')
    -- both are exact at an hour's edge
    union all
    select date_trunc('hour', now()) - interval '50 hours', component_id, region_id, true, null, 999500
    from component join venue using (venue_id) cross join region
    where venue = 'okx' and kind = 'rest' and region = 'eu-central'
    on conflict do nothing
  `);
  // opening a socket takes long, and is no answer of REST
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, latency_us)
    select at, component_id, region_id, true, 900000
    from component join venue using (venue_id) cross join region
    cross join generate_series(now() - interval '7 days 1 hour', now() - interval '2 minutes', interval '499 s') as at
    where venue = 'okx' and component = 'ws:conn'
    on conflict do nothing
  `);
  // two streams, one of them without sequence numbers
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, messages, quiet_ms, sequence_gaps)
    select
      at, component_id, region_id, luck % 40 > 0, case when luck % 40 = 0 then 'stall'::fault end,
      luck % 900, luck % 20011, case when component = 'ws:book' then luck % 3 end
    from component join venue using (venue_id) cross join region
    cross join generate_series(now() - interval '7 days 1 hour', now() - interval '2 minutes', interval '101 s') as at
    cross join lateral (select abs(hashint8(extract(epoch from at)::bigint * 64 + component_id)) as luck) drawn
    where venue = 'okx' and component in ('ws:book', 'ws:trades') and region in ('eu-central', 'us-east')
    on conflict do nothing
  `);

  /** Compares everything from each region, over exactly the requested range. */
  async function regionsAreThoseOfRaw(when: string) {
    // without held pages
    const fresh = await serve(t, { pool, registry });
    for (const range of ["24h", "7d"]) {
      const { generatedAt, regions } = (await fresh.ask<Detail>(`/v1/targets/okx?range=${range}`)).body;
      const rest = sql`good and kind = 'rest'`;
      const expected = await pool.query<{ answers: number }>(sql`
        select
          region, count(*)::int as samples,
          trunc(100.0 * count(*) filter (where good) / count(*), 3)::float8 as "goodPct",
          (count(*) filter (where ${rest}))::int as answers, ${wholeMs(0.5, rest)} as "p50Ms", ${wholeMs(0.95, rest)} as "p95Ms"
        from sample
        join component using (component_id) join venue using (venue_id) join region using (region_id)
        where venue = 'okx' and ts > ${generatedAt}::timestamptz - ${range}::interval and ts <= ${generatedAt}
          and ts + received_after_s * interval '1 second' <= ${generatedAt}
        group by region, region.position
        order by region.position
      `);
      t.ok(expected[0]!.answers > 100);
      const shown = regions.compare.map(({ region, samples, goodPct, answers, p50Ms, p95Ms }) => {
        return { region, samples, goodPct, answers, p50Ms, p95Ms };
      });
      t.strictSame(shown, expected, `${when}, ${range}`);
    }
  }
  accepted(await tick(pool, new Date()));
  await regionsAreThoseOfRaw("entirely from raw samples");
  await decide(pool);
  await pool.query(sql`call upkeep.refresh_over_hours(now() - upkeep.late_window(), now())`);
  await regionsAreThoseOfRaw("from stored hours and the samples around them");
  const [kept] = await pool.query<{ hours: number }>(sql`select count(distinct hour)::int as hours from latency_hour`);
  t.ok(kept!.hours >= 168, "most of the week is not read from raw samples");
  const { generatedAt, endpoints, streams, latency } = await page("okx", "?range=7d");
  const takenFrom = (region: string, kind = "rest") => sql`
    from sample join component using (component_id) join venue using (venue_id) join region using (region_id)
    where venue = 'okx' and kind = ${kind} and region = ${region}
      and ts > ${generatedAt}::timestamptz - interval '7 days' and ts <= ${generatedAt}
  `;
  const taken = takenFrom("eu-central");
  const ofEndpoints = await pool.query(sql`
    select
      component, count(*)::int as samples,
      trunc(100.0 * count(*) filter (where good) / count(*), 3)::double precision as "goodPct",
      ${wholeMs(0.5)} as "p50Ms", ${wholeMs(0.95)} as "p95Ms"
    ${taken}
    group by component
    order by component
  `);
  const byComponent = (a: Row, b: Row) => (a.component < b.component ? -1 : 1);
  const shownEndpoints = endpoints.sort(byComponent).map(({ component, samples, goodPct, p50Ms, p95Ms }) => {
    return { component, samples, goodPct, p50Ms, p95Ms };
  });
  t.strictSame(shownEndpoints, ofEndpoints);
  const ofStreams = await pool.query(sql`
    select
      component, count(*)::int as samples,
      trunc(100.0 * count(*) filter (where good) / count(*), 3)::double precision as "goodPct",
      round(sum(messages) * 60000.0 / (count(*) * cadence_ms), 1)::double precision as "messagesPerMinute",
      max(quiet_ms) as "longestQuietMs", sum(sequence_gaps)::int as "sequenceGaps"
    ${takenFrom("eu-central", "ws")}
    group by component, cadence_ms
    order by component
  `);
  t.ok(ofStreams.length >= 2);
  const shownStreams = streams.sort(byComponent).map(({ component, samples, goodPct, ...heard }) => {
    const { messagesPerMinute, longestQuietMs, sequenceGaps } = heard;
    return { component, samples, goodPct, messagesPerMinute, longestQuietMs, sequenceGaps };
  });
  t.strictSame(shownStreams, ofStreams, "streams, from hours and the samples around them");
  const ofHours = await pool.query<{ at: Date }>(sql`
    select
      time_bucket('1 hour', ts) as at, ${wholeMs(0.5)} as "p50Ms", ${wholeMs(0.95)} as "p95Ms",
      (count(*) filter (where good))::int as samples
    ${taken}
    group by 1
    order by 1
  `);
  const hours = ofHours.slice(-168).map((row) => ({ ...row, at: row.at.toISOString() }));
  t.strictSame(latency.points, hours);

  await pool.query(sql`
    update component set published = false
    where component = 'rest:ticker' and venue_id = (select venue_id from venue where venue = 'okx')
  `);
  await decide(pool);
  // of a region that was not requested yet: a week's page is held
  const without = await page("okx", "?range=7d&region=us-east");
  await pool.query(sql`update component set published = true`);
  const others = await pool.query<{ at: Date; samples: number }>(sql`
    select time_bucket('1 hour', ts) as at, (count(*) filter (where good))::int as samples
    ${takenFrom("us-east")} and component <> 'rest:ticker'
    group by 1
    order by 1
  `);
  const middle = without.latency.points.slice(1, -2).map(({ at, samples }) => ({ at, samples }));
  const expected = others
    .map(({ at, samples }) => ({ at: at.toISOString(), samples }))
    .filter(({ at }) => middle.some((point) => point.at === at));
  t.strictSame(middle, expected, "an endpoint that is no longer watched is not in the chart either");
});

void t.test("too few answers give no percentile", async (t) => {
  const { pool, registry } = await emptied(database);
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
    const web = await serve(t, { pool, registry });
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

void t.test("the board says since when its typical latencies hold", async (t) => {
  const { pool, registry } = await emptied(database);
  const api = await serve(t, { pool, registry });
  interface Board {
    generatedAt: string;
    summary: { medianLatencyMs: number | null; medianLatencyAsOf: string | null };
    venues: { typicalMs: number | null; typicalAsOf: string | null }[];
  }
  const decidedBoard = async () => {
    accepted(await tick(pool, new Date()));
    return (await api.ask<Board>("/v1/status")).body;
  };
  await measured(pool, { from: ago(900), to: ago(0), latencyMs: 80 });
  t.match((await decidedBoard()).summary, { medianLatencyMs: null, medianLatencyAsOf: null });
  await pool.query(sql`call upkeep.refresh_late(clock_timestamp())`);
  const { generatedAt, summary, venues } = await decidedBoard();
  t.equal(summary.medianLatencyMs, 80);
  t.ok(summary.medianLatencyAsOf! <= generatedAt);
  for (const { typicalMs, typicalAsOf } of venues)
    t.strictSame([typicalMs, typicalAsOf], [80, summary.medianLatencyAsOf]);

  await measured(pool, { from: ago(900), to: ago(0), latencyMs: 120 });
  t.strictSame((await decidedBoard()).summary, summary, "unchanged over any number of ticks");
  await pool.query(sql`call upkeep.refresh_late(clock_timestamp())`);
  const second = (await decidedBoard()).summary;
  t.equal(second.medianLatencyMs, 120);
  t.ok(second.medianLatencyAsOf! > summary.medianLatencyAsOf!);
});
