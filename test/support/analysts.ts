/**
 * Tests the questions of docs/analysts.md on the demo's data. The answers are compared with the API and with
 * independent computations.
 */
import { readFileSync } from "node:fs";
import type pg from "pg";
import type { Test } from "tap";
import { type Pool, sql } from "../../shared/database/pool.js";
import { packagedFile } from "../../shared/config/package.js";
import type { Api } from "./api.js";
import { pastIncident } from "./fleet.js";
import { analystOf } from "./page-of-statements.js";
import { questionsOf } from "./questions.js";

const page = readFileSync(packagedFile("docs/analysts.md"), "utf8");
const questions = questionsOf(page);

const dayMs = 24 * 3_600_000;

interface Asked {
  pool: Pool;
  api: Api;
  analyst: pg.Client;
  /**
   * Answers by the numbers of the questions. Some questions cover the last minutes, so their answers change; tests ask
   * those again.
   */
  answered: Map<string, Row[]>;
}

type Row = Record<string, unknown>;

/** Needs a running demo. Leaves invented incidents in it. */
export async function analystsAsk(t: Test, { pool, api, url }: { pool: Pool; api: Api; url: string }): Promise<void> {
  const analyst = await analystOf(t, url);
  const asked: Asked = { pool, api, analyst, answered: new Map() };
  await t.test("asks twenty questions", async (t) => {
    asked.answered = await askAll(t, analyst);
  });
  await t.test("reads what the API shows", (t) => asTheApi(t, asked));
  await t.test("recomputes days from raw", (t) => daysFromRaw(t, asked));
  await t.test("finds the slowest hours", (t) => latencies(t, asked));
  await t.test("finds venues that fail together, and what precedes outages", (t) => troubles(t, asked));
  await t.test("reads decisions", (t) => decisions(t, asked));
  await t.test("compares with notices", (t) => comparedAsTheApi(t, asked));
  await t.test("reads only the chunks that it needs", (t) => plans(t, asked));
  await t.test("counts what the API counts", (t) => retracted(t, asked));
  await t.test("counts halves and fifths alike", (t) => ties(t, asked));
}

/** Asks each question, and checks the columns of its answer. */
export async function askAll(t: Test, analyst: pg.Client): Promise<Map<string, Row[]>> {
  const answered = new Map<string, Row[]>();
  t.equal(questions.length, 20);
  for (const { title, statement, columns } of questions) {
    const { fields, rows } = await analyst.query<Row>(statement);
    answered.set(number(title), rows);
    t.strictSame(
      fields.map(({ name }) => name),
      columns,
      title,
    );
    t.ok(rows.length > 0, `${title}: ${rows.length} rows`);
    for (const column of columns)
      if (!mayBeNull.has(`${number(title)} ${column}`))
        t.ok(
          rows.some((row) => row[column] !== null),
          `${title}: ${column}`,
        );
  }
  return answered;
}

/** Columns that are null where no trouble was shared, or where every vote counted. */
const mayBeNull = new Set(["5 shared_with", "15 reason"]);

function number(title: string): string {
  return title.slice(0, title.indexOf("."));
}

async function answers(
  analyst: pg.Client,
  n: number,
  changed: (statement: string) => string = (statement) => statement,
): Promise<Row[]> {
  const question = questions.find(({ title }) => number(title) === String(n));
  const { rows } = await analyst.query<Row>(changed(question!.statement));
  return rows;
}

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

async function asTheApi(t: Test, { api, analyst, answered }: Asked) {
  const of = async <Body>(path: string) => (await api.ask<Body>(path)).body;

  const month = await of<Reliability>("/v1/reliability?days=30");
  const budgets = answered.get("1")!;
  t.ok(month.venues.every(({ measuredMinutes }) => measuredMinutes > 0));
  for (const { id, ...told } of month.venues)
    t.match(
      numbers(budgets.find(({ venue }) => venue === id)),
      {
        measured_minutes: told.measuredMinutes,
        down_minutes: told.downMinutes,
        uptime_pct: told.uptimePct,
      },
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

  interface Page {
    days: {
      date: string;
      uptimePct: number | null;
      measuredMinutes: number;
      downMinutes: number | null;
      degradedMinutes: number | null;
    }[];
    regions: {
      compare: {
        region: string;
        samples: number;
        answers: number;
        p50Ms: number;
        p95Ms: number;
      }[];
    };
    endpoints: {
      component: string;
      samples: number;
      p50Ms: number;
      p95Ms: number;
    }[];
    generatedAt: string;
  }
  for (const id of ["gemini", "okx"]) {
    const told = await of<Page>(`/v1/targets/${id}?region=us-east&range=7d`);
    const { rows: kept } = await analyst.query<Row>(
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
    const { rows: compared } = await analyst.query<Row>(
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
    const { rows: endpoints } = await analyst.query<Row>(
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

  const notify = await of<{
    deliveries: number;
    p50Ms: number | null;
    p95Ms: number | null;
  }>("/v1/notify");
  const arrived = answered.get("19")!.map(numbers);
  t.ok(notify.deliveries > 0);
  t.match(arrived.at(-1), {
    format: null,
    deliveries: notify.deliveries,
    p50_ms: notify.p50Ms,
    p95_ms: notify.p95Ms,
  });

  const [openings] = answered.get("20")!.map(numbers);
  t.ok((openings!["same"] as number) > 0);
  t.match(openings, { other: 0, not_kept: 0 });
}

/** Compares the hours of thirty days that have enough answers, in whole milliseconds. */
async function hoursAsTold(t: Test, { analyst }: Pick<Asked, "analyst">, { venues }: Reliability) {
  const { rows } = await analyst.query<Row>(`
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
async function incidentsAsTold(t: Test, { api, analyst }: Pick<Asked, "api" | "analyst">) {
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
  const { rows } = await analyst.query<Row & { slug: string }>(`
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

/** Asks the question about one venue and yesterday for every venue and day that has samples. */
async function daysFromRaw(t: Test, { analyst, pool }: Asked) {
  await dayByMinutes(pool);
  const kept = await pool.query<{ venue: string; back: number }>(
    sql`
      select v.venue, ((now() at time zone 'UTC')::date - (d.day at time zone 'UTC')::date) as back
      from venue_day d
      join venue v using (venue_id)
      where d.down_minutes > 0 or v.venue in ('okx', 'kraken') and d.day > now() - interval '3 days'
    `,
  );
  t.ok(kept.length > 3);
  for (const { venue, back } of kept) {
    const [row] = await answers(analyst, 2, onDay(venue, back));
    const { rows } = await analyst.query<Row>(
      `select measured_minutes, down_minutes, degraded_minutes, uptime_pct, uptime_pct as told_pct
      from analytics.days where venue = $1 and day = current_date - $2::int`,
      [venue, back],
    );
    t.strictSame(numbers(row), numbers(rows[0]), `${venue}, ${back} days ago`);
  }
}

/** Removes the days that the demo wrote without samples, so that days are counted from the samples that exist. */
async function dayByMinutes(pool: Pool): Promise<void> {
  await pool.script(`
    truncate venue_day_former, component_day_former;
    update rollups_made set made_from = '-infinity';
  `);
}

/** Changes the question about one venue and today to another venue and day. */
function onDay(venue: string, back: number) {
  return (statement: string): string => {
    const day = `current_date - ${back}`;
    return statement
      .replaceAll("'okx'", `'${venue}'`)
      .replace(/ts >= current_date and ts < \(.*\)/, `ts >= ${day} and ts < ${day} + 1`)
      .replace("minute >= current_date", `minute >= ${day}`)
      .replace("d.day = current_date", `d.day = ${day}`);
  };
}

/** Computes latencies by sorting, in this process, the roll-up of hours. */
async function latencies(t: Test, { analyst, pool }: Asked) {
  const hours = await pool.query<{
    venue: string;
    region: string;
    hour: Date;
    ms: number;
  }>(sql`
    select v.venue, g.region, h.hour, h.p50_us / 1000.0::float as ms
    from sample_hour h
    join component c using (component_id)
    join venue v using (venue_id)
    join region g using (region_id)
    where c.kind = 'rest' and h.p50_us is not null and h.hour >= now() - interval '7 days 1 hour'
  `);
  const hourMs = 3_600_000;
  const thisHour = Math.floor(Date.now() / hourMs) * hourMs;
  const whole = hours.filter(({ hour }) => +hour >= thisHour - 7 * dayMs && +hour < thisHour);
  const slowest = await answers(analyst, 6);
  t.equal(slowest.length, 15);
  for (const row of slowest) {
    const own = whole.filter(({ venue }) => venue === row["venue"]);
    const medians = groups(own, ({ hour }) => String(+hour)).map((group) => ({
      hour: group[0]!.hour,
      ms: median(group.map(({ ms }) => ms)),
    }));
    const most = Math.max(...medians.map(({ ms }) => ms));
    const first = medians.filter(({ ms }) => ms === most).sort((a, b) => +a.hour - +b.hour)[0]!;
    t.match(row, { hour: first.hour, p50_ms: roundHalfEven(most) }, `${String(row["venue"])}: the slowest hour`);
  }

  const regions = await answers(analyst, 7);
  t.equal(regions.length, 45);
  const lastWeek = hours.filter(({ hour }) => +hour >= Date.now() - 7 * dayMs);
  for (const row of regions) {
    const own = lastWeek.filter(({ venue, region }) => venue === row["venue"] && region === row["region"]);
    t.equal(
      row["p50_ms"],
      roundHalfEven(median(own.map(({ ms }) => ms))),
      `${String(row["venue"])} from ${String(row["region"])}`,
    );
  }
}

/** Recomputes the answers from each bad sample and each bad minute. */
async function troubles(t: Test, { analyst, pool, answered }: Asked) {
  const minutes = await pool.query<{ venue: string; minute: Date }>(sql`
    select v.venue, m.minute
    from venue_minute m
    join venue v using (venue_id)
    where m.bad and m.minute >= (now() at time zone 'UTC')::date::timestamp at time zone 'UTC' - interval '29 days'
  `);
  const byMinute = groups(minutes, ({ minute }) => String(+minute));
  const together = answered.get("5")!.map(numbers);
  const names = new Set(minutes.map(({ venue }) => venue));
  t.equal(together.length, names.size);
  for (const venue of names) {
    const own = byMinute.filter((group) => group.some((one) => one.venue === venue));
    const shared = own.filter((group) => group.length > 1);
    const others = new Set(shared.flat().flatMap((one) => (one.venue === venue ? [] : [one.venue])));
    t.match(
      together.find((row) => row["venue"] === venue),
      {
        bad_minutes: own.length,
        shared_minutes: shared.length,
        shared_with: others.size > 0 ? [...others].sort().join(", ") : null,
      },
      `${venue}: alone or with others`,
    );
  }

  const bad = await pool.query<{
    venue: string;
    region: string;
    kind: string;
    fault: string;
    minute: Date;
  }>(sql`
    select v.venue, g.region, c.kind, s.fault, date_trunc('minute', s.ts) as minute
    from sample s
    join component c using (component_id)
    join venue v using (venue_id)
    join region g using (region_id)
    where not s.good
  `);
  const incidents = await pool.query<{
    venue: string;
    peak: string;
    startedAt: Date;
    closedAt: Date | null;
  }>(sql`
    select v.venue, i.peak_severity as peak, i.started_at as "startedAt", i.closed_at as "closedAt"
    from incident i
    join component c using (component_id)
    join venue v using (venue_id)
    where i.retracted_at is null
    order by i.started_at, i.incident_id
  `);
  const minuteMs = 60_000;
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const outages = incidents.filter(
    ({ venue, peak, startedAt }, place) =>
      peak === "outage" &&
      +startedAt >= today - 6 * dayMs &&
      !incidents
        .slice(0, place)
        .some(
          (earlier) =>
            earlier.venue === venue && (earlier.closedAt === null || +earlier.closedAt > +startedAt - 10 * minuteMs),
        ),
  );
  t.ok(outages.length > 1 && outages.length < incidents.length);
  t.ok(
    outages.some(({ startedAt }) => +startedAt % minuteMs === 0),
    "an incident begins in its minute",
  );
  const lately = bad.filter(({ minute }) => +minute >= today - 7 * dayMs);
  const before = outages.map(({ venue, startedAt }) => {
    const began = Math.floor(+startedAt / minuteMs);
    return lately.filter(({ minute, ...one }) => {
      const ahead = began - +minute / minuteMs;
      return one.venue === venue && ahead >= 1 && ahead <= 10;
    });
  });
  const measured = await pool.query<{ venue: string; minute: Date }>(sql`
    select distinct v.venue, m.minute
    from sample_minute m
    join component c using (component_id)
    join venue v using (venue_id)
    where m.minute >= ${new Date(today - 7 * dayMs)}
  `);
  const windows = (minutes: { venue: string; minute: Date }[]) =>
    new Set(minutes.map(({ venue, minute }) => `${venue} ${Math.floor(+minute / minuteMs / 10)}`)).size;
  const foretold = answered.get("10")!.map(numbers);
  t.strictSame(
    foretold.map(({ fault }) => fault).sort(),
    [...new Set(lately.map(({ fault }) => fault))].sort(),
    "every fault that occurred",
  );
  for (const row of foretold) {
    const of = before.map((samples) => samples.filter(({ fault }) => fault === row["fault"]).length);
    const preceded = of.filter((samples) => samples > 0).length;
    const seen = lately.filter(({ fault }) => fault === row["fault"]);
    const { before_pct, usual_pct, ...counts } = row;
    t.match(
      counts,
      {
        outages: preceded,
        of_outages: outages.length,
        bad_samples: of.reduce((sum, samples) => sum + samples, 0),
      },
      `${String(row["fault"])} before outages`,
    );
    // compares per cent with one decimal place, however a tie is rounded
    const near = (told: unknown, part: number, of: number) =>
      t.ok(
        Math.abs((told as number) - (100 * part) / of) < 0.0501,
        `${String(row["fault"])}: ${String(told)} of ${part} of ${of}`,
      );
    near(before_pct, preceded, outages.length);
    near(usual_pct, windows(seen), windows(measured));
  }

  const refused = (await answers(analyst, 12)).map(numbers);
  t.ok(refused.length >= 2);
  const dayAgo = Date.now() - dayMs;
  for (const row of refused) {
    const of = (fault: string) =>
      bad.filter(
        (one) =>
          one.kind === "rest" &&
          one.fault === fault &&
          one.venue === row["venue"] &&
          one.region === row["region"] &&
          +one.minute >= dayAgo,
      ).length;
    t.match(
      row,
      { blocked: of("blocked"), limited: of("limited") },
      `${String(row["venue"])} from ${String(row["region"])}`,
    );
  }
}

async function decisions(t: Test, { api, analyst, answered }: Asked) {
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
    t.match(row, {
      incidents: seconds.length,
      late: 0,
      median_s: roundHalfEven(median(seconds)),
    });
  }

  const votes = answered.get("15")!;
  const slug = String(votes[0]!["slug"]);
  const newest = body.incidents.reduce((a, b) => (b.openedAt > a.openedAt ? b : a));
  t.equal(body.incidents.find((one) => one.slug === slug)?.openedAt, newest.openedAt);
  interface Page {
    evidence: {
      opening: {
        votes: {
          region: string;
          vote: string;
          samples: number;
          bad: number;
          slow: number;
          faults: object;
        }[];
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
      impairments: {
        startedAt: string;
        venues: string[];
        measured: number;
        endedAt: string | null;
      }[];
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

async function comparedAsTheApi(t: Test, asked: Asked) {
  await noticesAsTold(t, asked);
  const { api, analyst, answered } = asked;
  const { body } = await api.ask<{
    venues: { id: string; detection: Detection }[];
  }>("/v1/detection?days=90");
  const admitted = answered.get("17")!.map(numbers);
  const calm = answered.get("18")!.map(numbers);
  const { rows: alone } = await analyst.query<Row>(`
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
async function noticesAsTold(t: Test, { api, analyst }: Asked) {
  interface Told {
    id: string;
    startedAt: string;
    postedAt: string | null;
    resolvedAt: string | null;
  }
  for (const venue of ["deribit", "okx", "coinbase"]) {
    const { body } = await api.ask<{ official: { incidents: Told[] } }>(`/v1/targets/${venue}`);
    const { rows } = await analyst.query<Row & { id: string }>(
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

const zeros = {
  incidents: 0,
  paired: 0,
  near: 0,
  silent: 0,
  pairs: 0,
  leads: 0,
};

/**
 * A predicate on the time must exclude chunks, and a predicate on names must use the index of the series. Checks the
 * questions too: with their start moved from days ago to now, they must read no chunk that ended before today.
 */
async function plans(t: Test, { analyst, pool }: Asked) {
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
    const { chunks } = await chunksOf(
      statement
        .replace(/current_date - \d+/g, "current_date")
        // also where it is rounded to whole hours
        .replace(/(now\(\)\)?) - interval '[^']*'/g, "$1"),
    );
    t.strictSame(
      ended.filter(({ chunk }) => chunks.has(chunk)),
      [],
      title,
    );
  }
  const [all] = await pool.query<{ chunks: number }>(sql`select count(*) as chunks from show_chunks('sample')`);
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const to = new Date().toISOString();
  const hour = `ts >= '${from}' and ts < '${to}'`;
  const ofAll = await chunksOf(`select region, count(*) from analytics.samples where ${hour} group by region`);
  t.ok(
    ofAll.chunks.size <= 2 && ofAll.chunks.size < all!.chunks,
    `${ofAll.chunks.size} of ${all!.chunks} chunks for an hour`,
  );
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
async function retracted(t: Test, { analyst, pool }: Asked) {
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

  const publish = (isPublished: boolean) =>
    pool.query(sql`
      update component c set published = ${isPublished}
      from venue v
      where v.venue_id = c.venue_id and v.venue = 'bitstamp' and c.component = 'rest:fx'
    `);
  await pastIncident(pool, {
    ...{ venue: "bitstamp", component: "rest:fx" },
    ...{ startedAt: new Date(), minutes: 1 },
  });
  t.strictNotSame(await counted(), before);
  await publish(false);
  t.strictSame(await counted(), before, "a component that left the registry is not shown");
  await publish(true);
  await pool.query(sql`update venue set published = false where venue = 'bitstamp'`);
  t.strictSame(await counted(), before, "nor a component that left with its venue");
  const budgets = (await answers(analyst, 1)).map(({ venue }) => venue);
  t.notOk(budgets.includes("bitstamp"), "a venue that left has no budget either");
  t.equal(budgets.length, 14);
  await pool.query(sql`update venue set published = true where venue = 'bitstamp'`);

  await pastIncident(pool, { ...okx, minutes: null });
  const row = (await answers(analyst, 4))
    .map(numbers)
    .find(({ venue, component }) => venue === "okx" && component === "rest:book");
  t.match(row, { incidents: 1, still_open: 1, median_s: null });
  t.ok((row!["longest_s"] as number) >= dayMs / 1000, "an open incident has lasted until now");
  const { rows } = await analyst.query<Row>(
    "select count(*)::int as n, count(*) filter (where retracted_at is not null)::int as gone from analytics.incidents where venue = 'okx' and component = 'rest:book' and started_at >= now() - interval '2 days'",
  );
  t.match(rows[0], { n: 2, gone: 1 }, "a query can see both");
}

/** Covers minutes in which exactly half of the samples, regions or components are good, which the demo seldom has. */
async function ties(t: Test, { analyst, pool }: Asked) {
  await dayByMinutes(pool);
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault)
    select minute + slot * interval '6 s', c.component_id, g.region_id, w.good, case when not w.good then 'http'::fault end
    from generate_series(
      (now() at time zone 'UTC')::date::timestamp at time zone 'UTC' - interval '23 hours',
      (now() at time zone 'UTC')::date::timestamp at time zone 'UTC' - interval '21 hours',
      interval '1 minute'
    ) minute
    cross join generate_series(1, 5) slot
    join component c on c.venue_id = (select venue_id from venue where venue = 'bitstamp')
    join region g on g.position <= 2
    -- a hash gives the same result each time: some minutes have four slots, others five
    cross join lateral (
      select hashint8(extract(epoch from minute)::bigint * 1000 + c.component_id * 100 + g.region_id * 10 + slot) % 10 as n,
        hashint8(extract(epoch from minute)::bigint) % 4 as mood
    ) h
    cross join lateral (select abs(h.n) >= 3 + abs(h.mood) as good) w
    where slot <= 4 or h.mood % 2 = 0
    on conflict (component_id, region_id, ts) do update set good = excluded.good, fault = excluded.fault
  `);
  await pool.script("call upkeep.refresh_all(now() - interval '3 days', now())");
  const [row] = await answers(analyst, 2, onDay("bitstamp", 1));
  const { rows } = await analyst.query<Row>(
    `select measured_minutes, down_minutes, degraded_minutes, uptime_pct, uptime_pct as told_pct
    from analytics.days where venue = 'bitstamp' and day = current_date - 1`,
  );
  const is = numbers(row);
  t.strictSame(is, numbers(rows[0]));
  for (const column of ["down_minutes", "degraded_minutes"])
    t.ok((is[column] as number) > 5, `${column}: ${String(is[column])}`);
}

/** bigint and numeric arrive as text. */
function numbers(row: Row | undefined): Row {
  return Object.fromEntries(
    Object.entries(row ?? {}).map(([name, value]) => [
      name,
      typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value,
    ]),
  );
}

function groups<Item>(items: Item[], keyOf: (item: Item) => string): Item[][] {
  const found = new Map<string, Item[]>();
  for (const item of items) {
    const group = found.get(keyOf(item)) ?? [];
    found.set(keyOf(item), [...group, item]);
  }
  return [...found.values()];
}

/** Interpolates like percentile_cont: the mean of the two middle values. */
function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return low + (high - low) * (place % 1);
}

/** Rounds as PostgreSQL rounds a double precision. */
function roundHalfEven(value: number): number {
  const down = Math.floor(value);
  return value - down === 0.5 ? down + (down % 2) : Math.round(value);
}
