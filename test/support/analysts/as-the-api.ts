/** What analysts read is what the API shows. */
import type { Test } from "tap";
import { answers, type AnalystsAsked, type AnswerRow, numbers } from "./questions.js";
import { roundHalfEven } from "../rollup-model.js";
import { median } from "./recompute.js";

interface Venues {
  venues: (AnswerRow & { id: string })[];
}

export async function asTheApi(t: Test, context: AnalystsAsked) {
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

export async function decisions(t: Test, { api, analyst, answered }: AnalystsAsked) {
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

export async function comparedAsTheApi(t: Test, context: AnalystsAsked) {
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
