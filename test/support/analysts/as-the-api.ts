/** What analysts read is what the API shows. */
import type { Test } from "tap";
import { answers, type AnalystsAsked, numbers, type AnswerRow } from "./asked.js";
import { median, roundHalfEven } from "./rounding.js";

interface Reliability {
  venues: {
    id: string;
    measuredMinutes: number;
    downMinutes: number | null;
    uptimePct: number | null;
    typicalHours: number;
    typicalP50Ms: number | null;
    typicalP95Ms: number | null;
    incidents: number;
    outages: number;
    openIncidents: number;
    longestIncidentSeconds: number | null;
  }[];
}

interface Detection {
  oursCompared: number | null;
  paired: number | null;
  oursNear: number | null;
  oursOnly: number | null;
  theirsNear: number | null;
  theirsOnly: number | null;
  leads: number | null;
  aheadUncorrelated: number | null;
}

export async function asTheApi(t: Test, { api, analyst, answered }: AnalystsAsked) {
  const of = async <Body>(path: string) => (await api.ask<Body>(path)).body;

  const month = await of<Reliability>("/v1/reliability?days=30");
  const budgets = answered.get("1")!;
  t.ok(month.venues.every(({ measuredMinutes }) => measuredMinutes > 0));
  for (const { id, ...told } of month.venues)
    t.match(
      numbers(budgets.find(({ venue }) => venue === id)),
      { measured_minutes: told.measuredMinutes, down_minutes: told.downMinutes, uptime_pct: told.uptimePct },
      id,
    );
  await hoursAsTold(t, { analyst }, month);

  const quarter = await of<Reliability>("/v1/reliability?days=90");
  const failing = answered.get("4")!.map(numbers);
  for (const { id, ...told } of quarter.venues) {
    const rows = failing.filter(({ venue }) => venue === id);
    const sum = (column: string) => rows.reduce((all, row) => all + (row[column] as number), 0);
    t.equal(sum("incidents"), told.incidents, `${id}: incidents`);
    t.equal(sum("outages"), told.outages, `${id}: outages`);
    t.equal(sum("still_open"), told.openIncidents, `${id}: open incidents`);
    if (told.openIncidents === 0 && told.incidents > 0)
      t.equal(
        Math.max(...rows.map((row) => row["longest_s"] as number)),
        told.longestIncidentSeconds,
        `${id}: the longest incident`,
      );
  }

  await incidentsAsTold(t, { api, analyst });

  for (const id of ["gemini", "okx"]) await venueAsTold(t, { api, analyst }, id);

  const notify = await of<{ deliveries: number; p50Ms: number | null; p95Ms: number | null }>("/v1/notify");
  const arrived = answered.get("19")!.map(numbers);
  t.ok(notify.deliveries > 0);
  t.match(arrived.at(-1), { format: null, deliveries: notify.deliveries, p50_ms: notify.p50Ms, p95_ms: notify.p95Ms });

  const [openings] = answered.get("20")!.map(numbers);
  t.ok((openings!["same"] as number) > 0);
  t.match(openings, { other: 0, not_kept: 0 });
}

interface VenuePage {
  days: {
    date: string;
    uptimePct: number | null;
    measuredMinutes: number;
    downMinutes: number | null;
    degradedMinutes: number | null;
  }[];
  regions: { compare: { region: string; samples: number; answers: number; p50Ms: number; p95Ms: number }[] };
  endpoints: { component: string; samples: number; p50Ms: number; p95Ms: number }[];
  generatedAt: string;
}

/** Compares the days, regions and endpoints of a venue's page. */
async function venueAsTold(t: Test, { api, analyst }: Pick<AnalystsAsked, "api" | "analyst">, id: string) {
  const { body: told } = await api.ask<VenuePage>(`/v1/targets/${id}?region=us-east&range=7d`);
  const { rows: kept } = await analyst.query<AnswerRow>(
    `select to_char(day, 'YYYY-MM-DD') as date, measured_minutes as "measuredMinutes", down_minutes as "downMinutes",
      degraded_minutes as "degradedMinutes", uptime_pct::float as "uptimePct"
    from analytics.days where venue = $1 and day > current_date - 90 order by day`,
    [id],
  );
  t.strictSame(
    kept,
    told.days
      .filter(({ measuredMinutes }) => measuredMinutes > 0)
      .map(({ date, ...day }) => ({
        date,
        measuredMinutes: day.measuredMinutes,
        downMinutes: day.downMinutes,
        degradedMinutes: day.degradedMinutes,
        uptimePct: day.uptimePct,
      })),
    `${id}: days`,
  );
  const { rows: compared } = await analyst.query<AnswerRow>(
    `select
      region,
      count(*)::int as samples,
      (count(latency_ms) filter (where good and component like 'rest:%'))::int as answers,
      round(percentile_cont(0.5) within group (order by latency_ms) filter (where good and component like 'rest:%')) as "p50Ms",
      round(percentile_cont(0.95) within group (order by latency_ms) filter (where good and component like 'rest:%')) as "p95Ms"
    from analytics.samples
    where venue = $1 and ts > $2::timestamptz - interval '7 days' and ts <= $2
    group by region`,
    [id, told.generatedAt],
  );
  t.equal(told.regions.compare.length, 3);
  for (const { region, samples, answers, p50Ms, p95Ms } of told.regions.compare)
    t.match(
      compared.find((row) => row["region"] === region),
      { samples, answers, p50Ms, p95Ms },
      `${id}: everything from ${region}`,
    );
  const { rows: endpoints } = await analyst.query<AnswerRow>(
    `select
      component,
      count(*)::int as samples,
      round(percentile_cont(0.5) within group (order by latency_ms) filter (where good)) as "p50Ms",
      round(percentile_cont(0.95) within group (order by latency_ms) filter (where good)) as "p95Ms"
    from analytics.samples
    where venue = $1 and region = 'us-east' and component like 'rest:%'
      and ts > $2::timestamptz - interval '7 days' and ts <= $2
    group by component`,
    [id, told.generatedAt],
  );
  t.ok(endpoints.length > 0);
  for (const { component, samples, p50Ms, p95Ms } of told.endpoints)
    t.match(
      endpoints.find((row) => row["component"] === component),
      { samples, p50Ms, p95Ms },
      `${id}: ${component}`,
    );
}

/** Compares the hours of thirty days that have enough answers, in whole milliseconds. */
async function hoursAsTold(t: Test, { analyst }: Pick<AnalystsAsked, "analyst">, { venues }: Reliability) {
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
  for (const { id, typicalHours, typicalP50Ms, typicalP95Ms } of venues)
    t.match(
      rows.find(({ venue }) => venue === id),
      { typicalHours, typicalP50Ms, typicalP95Ms },
      `${id}: hours`,
    );
}

/** Compares every field of every incident that the API returns. */
async function incidentsAsTold(t: Test, { api, analyst }: Pick<AnalystsAsked, "api" | "analyst">) {
  interface Told {
    id: number;
    slug: string;
    startedAt: string;
    openedAt: string;
    escalatedAt: string | null;
    lastBadAt: string;
    closedAt: string | null;
    endedAt: string | null;
  }
  const { body } = await api.ask<{ incidents: Told[] }>("/v1/incidents?limit=200&days=90");
  const { rows } = await analyst.query<AnswerRow & { slug: string }>(`
    select
      slug, incident_id::int as id, venue, component, kind, severity, peak_severity as "peakSeverity", flapping, reporting, quorum,
      regions, round(duration_s) as "durationSeconds",
      started_at, opened_at, escalated_at, last_bad_at, closed_at, ended_at
    from analytics.incidents
    where retracted_at is null and published and started_at >= current_date - 89
  `);
  t.equal(rows.length, body.incidents.length);
  for (const told of body.incidents) {
    const { started_at, opened_at, escalated_at, last_bad_at, closed_at, ended_at, ...is } = rows.find(
      ({ slug }) => slug === told.slug,
    )!;
    t.match(told, is, told.slug);
    t.strictSame(
      [started_at, opened_at, escalated_at, last_bad_at, closed_at, ended_at],
      [told.startedAt, told.openedAt, told.escalatedAt, told.lastBadAt, told.closedAt, told.endedAt].map((at) =>
        at === null ? null : new Date(at),
      ),
      `${told.slug}: when`,
    );
  }
}

export async function decisions(t: Test, { api, analyst, answered }: AnalystsAsked) {
  interface Told {
    slug: string;
    kind: string;
    peakSeverity: string;
    startedAt: string;
    openedAt: string;
  }
  const { body } = await api.ask<{ incidents: Told[] }>("/v1/incidents?limit=200&days=90");
  const soon = answered.get("14")!.map(numbers);
  t.equal(
    soon.reduce((sum, row) => sum + (row["incidents"] as number), 0),
    body.incidents.length,
  );
  for (const row of soon) {
    const seconds = body.incidents
      .filter(({ kind, peakSeverity }) => kind === row["kind"] && peakSeverity === row["peak_severity"])
      .map(({ startedAt, openedAt }) => (Date.parse(openedAt) - Date.parse(startedAt)) / 1000);
    t.match(row, { incidents: seconds.length, late: 0, median_s: roundHalfEven(median(seconds)) });
  }

  const votes = answered.get("15")!;
  const slug = String(votes[0]!["slug"]);
  const newest = body.incidents.reduce((a, b) => (b.openedAt > a.openedAt ? b : a));
  t.equal(body.incidents.find((one) => one.slug === slug)?.openedAt, newest.openedAt);
  interface Page {
    evidence: {
      opening: {
        votes: { region: string; vote: string; samples: number; bad: number; slow: number; faults: object }[];
        notCounted: { region: string; reason: string }[];
      };
    };
  }
  const { evidence } = (await api.ask<Page>(`/v1/incidents/${slug}`)).body;
  const { votes: counted, notCounted } = evidence.opening;
  t.equal(votes.length, counted.length + notCounted.length);
  for (const { region, vote, samples, bad, slow, faults } of counted)
    t.match(
      votes.find((row) => row["region"] === region),
      { vote, samples, bad, slow, faults, reason: null },
      `${slug}: ${region}`,
    );

  interface Regions {
    regions: {
      id: string;
      impairments: { startedAt: string; venues: string[]; measured: number; endedAt: string | null }[];
    }[];
  }
  const told = (await api.ask<Regions>("/v1/regions")).body.regions.flatMap(({ id, impairments }) =>
    impairments.map(({ startedAt, endedAt, venues, measured }) => ({
      ...{ region: id, started_at: new Date(startedAt) },
      still_lasts: endedAt === null,
      ...{ venues: venues.length, measured_venues: measured },
    })),
  );
  t.ok(told.length > 0);
  t.match(await answers(analyst, 16), told);
}

export async function comparedAsTheApi(t: Test, asked: AnalystsAsked) {
  await noticesAsTold(t, asked);
  const { api, analyst, answered } = asked;
  const { body } = await api.ask<{ venues: { id: string; detection: Detection }[] }>("/v1/detection?days=90");
  const admitted = answered.get("17")!.map(numbers);
  const calm = answered.get("18")!.map(numbers);
  const { rows: alone } = await analyst.query<AnswerRow>(`
    select venue, count(*) filter (where near)::int as near, count(*) filter (where not near)::int as silent
    from analytics.pairings
    where compared and slug is null and notice_started_at >= current_date - 89
    group by venue
  `);
  t.ok(admitted.length > 0 && calm.length > 0);
  for (const { id, detection } of body.venues) {
    const { oursCompared, paired, oursNear, oursOnly, leads } = detection;
    t.match(calm.find(({ venue }) => venue === id) ?? zeros, { incidents: oursCompared ?? 0, paired: paired ?? 0 }, id);
    t.match(calm.find(({ venue }) => venue === id) ?? zeros, { near: oursNear ?? 0, silent: oursOnly ?? 0 }, id);
    t.match(
      alone.find(({ venue }) => venue === id) ?? zeros,
      { near: detection.theirsNear ?? 0, silent: detection.theirsOnly ?? 0 },
      `${id}: notices without an incident`,
    );
    const told = admitted.find(({ venue }) => venue === id);
    t.match(told ?? zeros, { pairs: paired ?? 0, leads: leads ?? 0 }, `${id}: pairs`);
    // the API returns no median of fewer than five
    if (detection.aheadUncorrelated !== null) t.equal(told!["median_ahead_s"], detection.aheadUncorrelated, id);
  }
}

/** Compares every field of every notice that the API returns. */
async function noticesAsTold(t: Test, { api, analyst }: AnalystsAsked) {
  interface Told {
    id: string;
    startedAt: string;
    postedAt: string | null;
    resolvedAt: string | null;
  }
  for (const venue of ["deribit", "okx", "coinbase"]) {
    const { body } = await api.ask<{ official: { incidents: Told[] } }>(`/v1/targets/${venue}`);
    const { rows } = await analyst.query<AnswerRow & { id: string }>(
      `select external_id as id, title, url, kind, status, impact, vanished, doubtful as "timesDoubtful",
        api_form(started_at) as "startedAt", api_form(posted_at) as "postedAt", api_form(resolved_at) as "resolvedAt"
      from analytics.notices
      where venue = $1`.replaceAll(/api_form\((\w+)\)/g, `to_char($1, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`),
      [venue],
    );
    t.ok(body.official.incidents.length > 0, venue);
    for (const told of body.official.incidents)
      t.match(told, rows.find(({ id }) => id === told.id) ?? { missing: true }, `${venue}: ${told.id}`);
  }
}

const zeros = { incidents: 0, paired: 0, near: 0, silent: 0, pairs: 0, leads: 0 };
