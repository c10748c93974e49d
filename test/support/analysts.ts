/**
 * Tests the questions of docs/analysts.md on the demo's data. The answers are compared with the API and with
 * independent computations.
 */
import type { Test } from "tap";
import { type Pool, sql } from "../../shared/database/pool.js";
import type { Api } from "./api.js";
import { pastIncident } from "./fleet.js";
import { analystOf } from "./page-of-statements.js";
import {
  answers,
  askAll,
  type AnalystsAsked,
  dayMs,
  numbers,
  questions,
  type AnswerRow,
} from "./analysts/questions.js";
import { daysFromRaw, latencies, ties, troubles, median } from "./analysts/recompute.js";
import { roundHalfEven } from "./rollup-model.js";

/** Needs a running demo. Leaves invented incidents in it. */
export async function analystsAsk(t: Test, { pool, api, url }: { pool: Pool; api: Api; url: string }): Promise<void> {
  const analyst = await analystOf(t, url);
  const context: AnalystsAsked = { pool, api, analyst, answered: new Map() };
  await t.test("asks twenty questions", async (t) => {
    context.answered = await askAll(t, analyst);
  });
  for (const [name, run] of [
    ["reads what the API shows", asTheApi],
    ["recomputes days from raw", daysFromRaw],
    ["finds the slowest hours", latencies],
    ["finds venues that fail together, and what precedes outages", troubles],
    ["reads decisions", decisions],
    ["compares with notices", comparedAsTheApi],
    ["reads only the chunks that it needs", plans],
    ["counts what the API counts", retracted],
    ["counts halves and fifths alike", ties],
  ] as const)
    await t.test(name, (t) => run(t, context));
}

/**
 * A predicate on the time must exclude chunks, and a predicate on names must use the index of the series. Checks the
 * questions too: with their start moved from days ago to now, they must read no chunk that ended before today.
 */
async function plans(t: Test, { analyst, pool }: AnalystsAsked) {
  const chunksOf = async (statement: string) => {
    const { rows } = await analyst.query<{ "QUERY PLAN": unknown }>(`explain (format json) ${statement}`);
    const text = JSON.stringify(rows[0]!["QUERY PLAN"]);
    return {
      chunks: new Set(text.match(/_hyper_\d+_\d+_chunk(?=")/g)),
      indexes: [...new Set(text.match(/"Index Name":"[^"]*"/g) ?? [])].join(),
    };
  };
  const ended = await pool.query<{ chunk: string }>(sql`
    select h.chunk_name as chunk
    from timescaledb_information.chunks h
    left join timescaledb_information.continuous_aggregates a
      on a.materialization_hypertable_schema = h.hypertable_schema and a.materialization_hypertable_name = h.hypertable_name
    where h.range_end <= (now() at time zone 'UTC')::date::timestamp at time zone 'UTC'
      -- these are planned for today's part: execution excludes their chunks once it knows up to when hours and days are
      -- added up
      and coalesce(a.view_name, '') not in ('venue_hour', 'venue_minute', 'component_hour', 'component_minute')
  `);
  t.ok(ended.length > 2);
  for (const { title, statement } of questions) {
    const ofToday = statement
      .replace(/current_date - \d+/g, "current_date")
      // also where it is rounded to whole hours
      .replace(/(now\(\)\)?) - interval '[^']*'/g, "$1");
    const { chunks } = await chunksOf(ofToday);
    const needless = ended.filter(({ chunk }) => chunks.has(chunk));
    t.strictSame(needless, [], title);
  }
  const [all] = await pool.query<{ chunks: number }>(sql`select count(*) as chunks from show_chunks('sample')`);
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const to = new Date().toISOString();
  const hour = `ts >= '${from}' and ts < '${to}'`;
  const ofAll = await chunksOf(`select region, count(*) from analytics.samples where ${hour} group by region`);
  const { size } = ofAll.chunks;
  t.ok(size <= 2 && size < all!.chunks, `${size} of ${all!.chunks} chunks for an hour`);
  const ofOne = await chunksOf(
    `select * from analytics.samples where venue = 'okx' and component = 'rest:ticker' and region = 'us-east' and ${hour}`,
  );
  t.ok(ofOne.chunks.size <= 2);
  t.match(ofOne.indexes, /sample_key/);
  for (const view of ["minutes", "component_minutes", "venue_minutes"]) {
    const { chunks } = await chunksOf(
      `select * from analytics.${view} where venue = 'okx' and minute >= '${from}' and minute < '${to}'`,
    );
    t.ok(chunks.size < 3, `${chunks.size} chunks of ${view}`);
  }
}

/** Runs last, because it leaves invented incidents behind. */
async function retracted(t: Test, { analyst, pool }: AnalystsAsked) {
  const yesterday = new Date(Date.now() - dayMs);
  const okx = { venue: "okx", component: "rest:book", startedAt: yesterday };
  const counted = async () => [
    // the duration of an open incident grows
    (await answers(analyst, 4)).map((row) => ({ ...row, longest_s: null })),
    (await answers(analyst, 10)).map(({ of_outages }) => of_outages),
    await answers(analyst, 14),
    await answers(analyst, 15),
  ];
  const before = await counted();
  await pastIncident(pool, { ...okx, minutes: 500, retracted: true });
  t.strictSame(await counted(), before, "a retracted incident does not count");

  await pastIncident(pool, { venue: "bitstamp", component: "rest:fx", startedAt: new Date(), minutes: 1 });
  t.strictNotSame(await counted(), before);
  const component = "component = 'rest:fx' and venue_id = (select venue_id from venue where venue = 'bitstamp')";
  await pool.script(`update component set published = false where ${component}`);
  t.strictSame(await counted(), before, "a component that left the registry is not shown");
  await pool.script(`update component set published = true where ${component}`);
  await pool.query(sql`update venue set published = false where venue = 'bitstamp'`);
  t.strictSame(await counted(), before, "nor a component that left with its venue");
  const budgets = (await answers(analyst, 1)).map(({ venue }) => venue);
  t.notOk(budgets.includes("bitstamp"), "a venue that left has no budget either");
  t.equal(budgets.length, 14);
  await pool.query(sql`update venue set published = true where venue = 'bitstamp'`);

  await pastIncident(pool, { ...okx, minutes: null });
  const failing = (await answers(analyst, 4)).map(numbers);
  const row = failing.find(({ venue, component }) => venue === "okx" && component === "rest:book");
  t.match(row, { incidents: 1, still_open: 1, median_s: null });
  t.ok((row!["longest_s"] as number) >= dayMs / 1000, "an open incident has lasted until now");
  const { rows } = await analyst.query<AnswerRow>(
    "select count(*)::int as n, count(*) filter (where retracted_at is not null)::int as gone from analytics.incidents where venue = 'okx' and component = 'rest:book' and started_at >= now() - interval '2 days'",
  );
  t.match(rows[0], { n: 2, gone: 1 }, "a query can see both");
}

interface Venues {
  venues: (AnswerRow & { id: string })[];
}

/** What analysts read is what the API shows. */
async function asTheApi(t: Test, context: AnalystsAsked) {
  const { api, answered } = context;
  const of = async <Body>(path: string) => (await api.ask<Body>(path)).body;

  const month = await of<Venues>("/v1/reliability?days=30");
  const budgets = answered.get("1")!.map(numbers);
  t.ok(month.venues.every(({ measuredMinutes }) => (measuredMinutes as number) > 0));
  for (const { id: venue, measuredMinutes, downMinutes, uptimePct } of month.venues) {
    const budget = { measured_minutes: measuredMinutes, down_minutes: downMinutes, uptime_pct: uptimePct };
    rowIs(t, budgets, { venue }, budget, "budget");
  }
  await hoursAreTheSame(t, context, month);

  const quarter = await of<Venues>("/v1/reliability?days=90");
  const failing = answered.get("4")!.map(numbers);
  for (const { id, incidents, outages, openIncidents, longestIncidentSeconds } of quarter.venues) {
    const rows = failing.filter(({ venue }) => venue === id);
    const column = (name: string) => rows.map((row) => row[name] as number);
    const sum = (name: string) => column(name).reduce((all, one) => all + one, 0);
    t.strictSame([sum("incidents"), sum("outages"), sum("still_open")], [incidents, outages, openIncidents], id);
    if (openIncidents === 0 && incidents !== 0)
      t.equal(Math.max(...column("longest_s")), longestIncidentSeconds, `${id}: the longest incident`);
  }

  await incidentsAreTheSame(t, context);
  for (const id of ["gemini", "okx"]) await venueIsTheSame(t, context, id);

  const notify = await of<{ deliveries: number; p50Ms: number | null; p95Ms: number | null }>("/v1/notify");
  const arrived = answered.get("19")!.map(numbers);
  t.ok(notify.deliveries > 0);
  t.match(arrived.at(-1), { format: null, deliveries: notify.deliveries, p50_ms: notify.p50Ms, p95_ms: notify.p95Ms });

  const [openings] = answered.get("20")!.map(numbers);
  t.ok((openings!["same"] as number) > 0);
  t.match(openings, { other: 0, not_kept: 0 });
}

interface VenuePage {
  days: (AnswerRow & { measuredMinutes: number })[];
  regions: { compare: AnswerRow[] };
  endpoints: AnswerRow[];
  generatedAt: string;
}

/** Compares the days, regions and endpoints of a venue's page. */
async function venueIsTheSame(t: Test, { api, analyst }: AnalystsAsked, id: string) {
  const { body: page } = await api.ask<VenuePage>(`/v1/targets/${id}?region=us-east&range=7d`);
  const { rows: kept } = await analyst.query<AnswerRow>(
    `select to_char(day, 'YYYY-MM-DD') as date, measured_minutes as "measuredMinutes", down_minutes as "downMinutes",
      degraded_minutes as "degradedMinutes", uptime_pct::float as "uptimePct"
    from analytics.days where venue = $1 and day > current_date - 90 order by day`,
    [id],
  );
  const shown = page.days
    .filter(({ measuredMinutes }) => measuredMinutes > 0)
    .map((day) => Object.fromEntries(Object.keys(kept[0]!).map((name) => [name, day[name]])));
  t.strictSame(kept, shown, `${id}: days`);

  const percentiles = (answers: string) => `
    (count(latency_ms) filter (where ${answers}))::int as answers,
    round(percentile_cont(0.5) within group (order by latency_ms) filter (where ${answers})) as "p50Ms",
    round(percentile_cont(0.95) within group (order by latency_ms) filter (where ${answers})) as "p95Ms"`;
  const week = "venue = $1 and ts > $2::timestamptz - interval '7 days' and ts <= $2";
  const { rows: regions } = await analyst.query<AnswerRow>(
    `select region, count(*)::int as samples, ${percentiles("good and component like 'rest:%'")}
    from analytics.samples where ${week} group by region`,
    [id, page.generatedAt],
  );
  t.equal(page.regions.compare.length, 3);
  for (const { region, samples, answers, p50Ms, p95Ms } of page.regions.compare)
    rowIs(t, regions, { region }, { samples, answers, p50Ms, p95Ms }, `${id}: everything from`);
  const { rows: endpoints } = await analyst.query<AnswerRow>(
    `select component, count(*)::int as samples, ${percentiles("good")}
    from analytics.samples where ${week} and region = 'us-east' and component like 'rest:%' group by component`,
    [id, page.generatedAt],
  );
  t.ok(endpoints.length > 0);
  for (const { component, samples, p50Ms, p95Ms } of page.endpoints)
    rowIs(t, endpoints, { component }, { samples, p50Ms, p95Ms }, `${id}:`);
}

/** Compares the hours of thirty days that have enough answers, in whole milliseconds. */
async function hoursAreTheSame(t: Test, { analyst }: AnalystsAsked, { venues }: Venues) {
  const { rows } = await analyst.query<AnswerRow>(`
    select
      venue,
      count(*)::int as "typicalHours",
      round(percentile_cont(0.5) within group (order by round(p50_ms))) as "typicalP50Ms",
      round(percentile_cont(0.5) within group (order by round(p95_ms))) as "typicalP95Ms"
    from analytics.hours
    cross join analytics.clock
    where component like 'rest:%' and good >= 10
      and hour >= generated_at::date - 29 and hour < date_trunc('hour', ticked_at - interval '4 minutes')
    group by venue
  `);
  t.equal(rows.length, venues.length);
  for (const { id: venue, typicalHours, typicalP50Ms, typicalP95Ms } of venues)
    rowIs(t, rows, { venue }, { typicalHours, typicalP50Ms, typicalP95Ms }, "hours of");
}

/** Compares every field of every incident that the API returns. */
async function incidentsAreTheSame(t: Test, { api, analyst }: AnalystsAsked) {
  const { body } = await api.ask<{ incidents: AnswerRow[] }>("/v1/incidents?limit=200&days=90");
  const { rows } = await analyst.query<AnswerRow>(
    withIsoTimes(`
    select
      slug, incident_id::int as id, venue, component, kind, severity, peak_severity as "peakSeverity", flapping, reporting, quorum,
      regions, round(duration_s) as "durationSeconds", iso(started_at) as "startedAt", iso(opened_at) as "openedAt",
      iso(escalated_at) as "escalatedAt", iso(last_bad_at) as "lastBadAt", iso(closed_at) as "closedAt", iso(ended_at) as "endedAt"
    from analytics.incidents
    where retracted_at is null and published and started_at >= current_date - 89
  `),
  );
  t.equal(rows.length, body.incidents.length);
  for (const incident of body.incidents) {
    const slug = String(incident["slug"]);
    t.match(incident, rows.find((row) => row["slug"] === slug) ?? { missing: true }, slug);
  }
}

/** Writes instants as the API does. */
function withIsoTimes(statement: string): string {
  return statement.replaceAll(/iso\((\w+)\)/g, `to_char($1 at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
}

async function decisions(t: Test, { api, analyst, answered }: AnalystsAsked) {
  interface Decided {
    slug: string;
    kind: string;
    peakSeverity: string;
    startedAt: string;
    openedAt: string;
  }
  const { incidents } = (await api.ask<{ incidents: Decided[] }>("/v1/incidents?limit=200&days=90")).body;
  const soon = answered.get("14")!.map(numbers);
  const counted = soon.reduce((sum, row) => sum + (row["incidents"] as number), 0);
  t.equal(counted, incidents.length);
  for (const row of soon) {
    const seconds = incidents
      .filter(({ kind, peakSeverity }) => kind === row["kind"] && peakSeverity === row["peak_severity"])
      .map(({ startedAt, openedAt }) => (Date.parse(openedAt) - Date.parse(startedAt)) / 1000);
    t.match(row, { incidents: seconds.length, late: 0, median_s: roundHalfEven(median(seconds)) });
  }

  const votes = answered.get("15")!;
  const slug = String(votes[0]!["slug"]);
  const newest = incidents.reduce((a, b) => (b.openedAt > a.openedAt ? b : a));
  t.equal(incidents.find((one) => one.slug === slug)?.openedAt, newest.openedAt);
  interface Page {
    evidence: { opening: { votes: AnswerRow[]; notCounted: AnswerRow[] } };
  }
  const { opening } = (await api.ask<Page>(`/v1/incidents/${slug}`)).body.evidence;
  t.equal(votes.length, opening.votes.length + opening.notCounted.length);
  for (const { region, vote, samples, bad, slow, faults } of opening.votes)
    rowIs(t, votes, { region }, { vote, samples, bad, slow, faults, reason: null }, `${slug}:`);

  interface Regions {
    regions: {
      id: string;
      impairments: { startedAt: string; venues: string[]; measured: number; endedAt: string | null }[];
    }[];
  }
  const { regions } = (await api.ask<Regions>("/v1/regions")).body;
  const impairments = regions.flatMap(({ id, impairments }) =>
    impairments.map(({ startedAt, endedAt, venues, measured }) => ({
      ...{ region: id, started_at: new Date(startedAt), still_lasts: endedAt === null },
      ...{ venues: venues.length, measured_venues: measured },
    })),
  );
  t.ok(impairments.length > 0);
  t.match(await answers(analyst, 16), impairments);
}

async function comparedAsTheApi(t: Test, context: AnalystsAsked) {
  await noticesAreTheSame(t, context);
  const { api, analyst, answered } = context;
  interface Compared {
    venues: { id: string; detection: Record<string, number | null> }[];
  }
  const { venues } = (await api.ask<Compared>("/v1/detection?days=90")).body;
  const admitted = answered.get("17")!.map(numbers);
  const calm = answered.get("18")!.map(numbers);
  const { rows: alone } = await analyst.query<AnswerRow>(`
    select venue, count(*) filter (where near)::int as near, count(*) filter (where not near)::int as silent
    from analytics.pairings
    where compared and slug is null and notice_started_at >= current_date - 89
    group by venue
  `);
  t.ok(admitted.length > 0 && calm.length > 0);
  for (const { id: venue, detection } of venues) {
    const count = (name: string) => detection[name] ?? 0;
    const zeros = { venue, incidents: 0, paired: 0, near: 0, silent: 0, pairs: 0, leads: 0 };
    const ofCalm = { incidents: count("oursCompared"), paired: count("paired"), near: count("oursNear") };
    rowIs(t, [...calm, zeros], { venue }, { ...ofCalm, silent: count("oursOnly") }, "incidents of");
    const ofAlone = { near: count("theirsNear"), silent: count("theirsOnly") };
    rowIs(t, [...alone, zeros], { venue }, ofAlone, "notices without an incident of");
    const pairs = { pairs: count("paired"), leads: count("leads") };
    rowIs(t, [...admitted, zeros], { venue }, pairs, "pairs of");
    // the API returns no median of fewer than five
    const { aheadUncorrelated } = detection;
    if (aheadUncorrelated !== null) rowIs(t, admitted, { venue }, { median_ahead_s: aheadUncorrelated }, "leads of");
  }
}

/** Compares every field of every notice that the API returns. */
async function noticesAreTheSame(t: Test, { api, analyst }: AnalystsAsked) {
  for (const venue of ["deribit", "okx", "coinbase"]) {
    const { body } = await api.ask<{ official: { incidents: { id: string }[] } }>(`/v1/targets/${venue}`);
    const { rows } = await analyst.query<AnswerRow>(
      withIsoTimes(`select external_id as id, title, url, kind, status, impact, vanished, doubtful as "timesDoubtful",
        iso(started_at) as "startedAt", iso(posted_at) as "postedAt", iso(resolved_at) as "resolvedAt"
      from analytics.notices
      where venue = '${venue}'`),
    );
    t.ok(body.official.incidents.length > 0, venue);
    for (const shown of body.official.incidents)
      t.match(shown, rows.find(({ id }) => id === shown.id) ?? { missing: true }, `${venue}: ${shown.id}`);
  }
}

/** Checks the first row that has the value of `key` in its column. */
function rowIs(t: Test, rows: AnswerRow[], key: AnswerRow, expected: AnswerRow, what: string): void {
  const [column = "", value] = Object.entries(key).flat();
  t.match(
    rows.find((row) => row[column as string] === value),
    expected,
    `${what} ${String(value)}`,
  );
}
