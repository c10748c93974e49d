/**
 * Tests the day before the demo, as the engine decided it and the API shows it: each kind of typical trouble with its
 * expected result, and the analysts' questions.
 */
import t, { type Test } from "tap";
import { type Pool, sql } from "../../shared/database/pool.js";
import { rulesRow } from "../../shared/rules/engine-rules.js";
import { decideUpTo, dueInstants } from "../../server/core/engine/tick.js";
import { makeLog } from "../../shared/log/log.js";
import type { Fault } from "../../shared/measurement/sample.js";
import { addChannel } from "../support/alerts.js";
import { analystsAsk } from "../support/analysts.js";
import { serve } from "../support/api.js";
import { get, type Incident, readEvidence, readIncidents, readRegions } from "../support/board.js";
import { migratedDatabase } from "../support/database.js";
import { runDemo } from "../support/demo-past.js";
import { ago } from "../support/fleet.js";
import { fillEarlier, makeRecentHistory } from "../../world/history.js";

const minuteS = 60;
const everywhere = ["eu-central", "ap-southeast", "us-east"];

interface Expected {
  venue: string;
  component: string;
  /** Seconds since the day began. */
  fromS: number;
  toS: number;
  peak: "degraded" | "outage";
  /** Null: the samples are good, but slow. */
  shows: Fault | null;
  regions?: string[];
  flapping?: boolean;
}

/** Every incident of that day, oldest first; nothing else may be an incident. */
const expected: Expected[] = [
  { ...spell("okx", "rest:ticker", 6, 0, 12), shows: "http", regions: ["eu-central", "us-east"] },
  { ...spell("bybit", "ws:trades", 9, 0, 9), shows: "stall" },
  { ...spell("kraken", "ws:conn", 12, 0, 6), shows: "timeout" },
  { ...spell("gemini", "rest:ticker", 14, 0, 0.5), shows: "http" },
  { ...spell("gemini", "rest:ticker", 14, 3, 0.5), shows: "http" },
  // two bad spells, from 6:00 to 6:30 and from 9:00 to 9:30
  { ...spell("gemini", "rest:ticker", 14, 6, 3.5), shows: "http", flapping: true },
  // a venue that limits requests answers, so it is not down
  { ...spell("kucoin", "rest:book", 16, 0, 8), peak: "degraded", shows: "limited" },
  ...["rest:book", "rest:ticker", "rest:time", "rest:trades"].map((component): Expected => ({
    ...spell("bitget", component, 18, 0, 15),
    peak: "degraded",
    shows: null,
  })),
];

function spell(venue: string, component: string, hours: number, minutes: number, lastingMinutes: number) {
  const fromS = (hours * 60 + minutes) * minuteS;
  const toS = fromS + lastingMinutes * minuteS;
  return { venue, component, fromS, toS, peak: "outage" as const };
}

interface Day {
  pool: Pool;
  url: string;
  /** Unix milliseconds. */
  beginMs: number;
  now: Date;
}

void t.test("the day before the demo", async (t) => {
  const { pool, registry, url } = await migratedDatabase(t);
  const now = ago(60);
  await madeInTwoRuns(t, pool, now);
  const api = await serve(t, { pool, registry });
  const minute = Math.floor(+now / 60_000) * 60_000;
  const beginMs = minute - 24 * 3600 * 1000;
  const day = { pool, url: `http://127.0.0.1:${api.port}`, beginMs, now };
  for (const [name, run] of [
    ["the list of incidents", everyIncidentAsItWas],
    ["instants", decidedAtOnce],
    ["a geo-block in one region", blockedInOneRegion],
    ["an impaired region", impairedIsRecorded],
    ["a socket that is down", streamsAreNotServed],
    ["patterns and bars", patternsAndBars],
    ["how core continues", coreGoesOn],
    ["what channels receive", noAlertIsSent],
  ] as const)
    await t.test(name, (t) => run(t, day));
  await runDemo(pool, registry, now);
  await t.test("an analyst", (t) => analystsAsk(t, { pool, api, url }));
});

/** A demo is stopped while its history is filled in: the next run continues, and repeats the interrupted piece. */
async function madeInTwoRuns(t: Test, pool: Pool, now: Date) {
  const options = { days: 3, now, log: makeLog("test", "warn") };
  await makeRecentHistory(pool, options);
  let reached = now;
  const first = fillEarlier(pool, {
    ...options,
    filledFrom: now,
    onFilled: (filledFrom) => {
      if (reached < now) return Promise.reject(new Error("stopped"));
      reached = filledFrom;
      return Promise.resolve();
    },
  });
  // early in a UTC day there is a single piece
  await first.catch((error: Error) => t.equal(error.message, "stopped"));
  t.ok(reached < now, "a piece was filled in");
  await fillEarlier(pool, { ...options, filledFrom: reached });
  await pool.script("analyze");
  const today = new Date(Math.floor(+now / 86_400_000) * 86_400_000);
  const [row] = await pool.query<{ unmeasured: number }>(sql`
    select count(*) as unmeasured
    from generate_series(${today}::timestamptz, date_trunc('hour', ${now}::timestamptz) - interval '1 hour', '1 hour') as hour
    where (
      select count(*) from venue_minute m where m.minute >= hour and m.minute < hour + interval '1 hour'
    ) < 15 * 50
  `);
  t.equal(row!.unmeasured, 0, "five minutes of six in every hour of today");
  const [chart] = await pool.query<{ gaps: number }>(sql`
    select count(*) as gaps
    from generate_series(
      date_trunc('minute', ${now}::timestamptz) - interval '23 hours', ${now}::timestamptz - interval '5 minutes', '1 minute'
    ) as minute
    where (
      select count(*)
      from sample s
      join component c using (component_id)
      join venue v using (venue_id)
      join region g using (region_id)
      where v.venue = 'bitfinex' and c.kind = 'rest' and g.region = 'ap-southeast' and s.good
        and s.ts >= minute and s.ts < minute + interval '1 minute'
    ) < 3
  `);
  t.equal(chart!.gaps, 0, "and the chart of the last day has no gap");
}

async function everyIncidentAsItWas(t: Test, { url, beginMs }: Day) {
  const incidents = (await readIncidents(url))
    .map((one) => ({ ...one, fromS: secondsOf(one.startedAt, beginMs) }))
    .filter(({ fromS }) => fromS > 0)
    .sort((a, b) => a.openedAt.localeCompare(b.openedAt) || (a.slug < b.slug ? -1 : 1));
  const names = (list: { venue: string; component: string }[]) =>
    list.map(({ venue, component }) => `${venue} ${component}`).sort();
  t.same(names(incidents), names(expected), "these incidents, and no others");
  const left = [...expected];
  let confirmedLater = 0;
  for (const incident of incidents) {
    const { slug, venue, component, openedAt, closedAt } = incident;
    const place = left.findIndex((one) => one.venue === venue && one.component === component);
    const [was] = left.splice(place, 1);
    if (!was) continue;
    const { fromS, toS, peak, regions = everywhere, flapping = false } = was;
    t.match(incident, { status: "closed", peakSeverity: peak, flapping }, slug);
    const seenFrom = incident.regions;
    const isExpected = seenFrom.length >= incident.quorum && seenFrom.every((region) => regions.includes(region));
    t.ok(isExpected, `${slug} from ${seenFrom.join(", ")}`);
    if (seenFrom.length < regions.length) confirmedLater += 1;
    const holdMs = flapping ? rulesRow.flap_hold_ms : rulesRow.recovery_hold_ms;
    // a lost sample may move it by one cadence
    between(t, incident.fromS - fromS, [-15, 15], `${slug} started`);
    between(t, secondsOf(openedAt, beginMs) - fromS, [4, 34], `${slug} opened`);
    const heldS = secondsOf(closedAt!, beginMs) - toS;
    between(t, heldS - holdMs / 1000, [20, 60], `${slug} closed one hold after it was well`);
    await evidenceIs(t, url, incident, was);
  }
  // it opens when two regions confirm it; a third that has lost a sample confirms one cadence later
  t.ok(confirmedLater <= 2, `${confirmedLater} opened before all confirmed it`);
}

async function evidenceIs(t: Test, url: string, { slug, regions: seenFrom }: Incident, was: Expected) {
  const { opening } = await readEvidence(url, slug);
  const { shows, regions = everywhere } = was;
  for (const vote of opening.votes) {
    const what = `${slug}: ${vote.region}`;
    if (!regions.includes(vote.region)) {
      t.equal(vote.vote, "operational", what);
    } else if (shows) {
      t.ok(vote.faults[shows]! >= 2, `${what} saw ${shows}`);
      t.equal(vote.slow, 0, what);
    } else {
      const confirms = seenFrom.includes(vote.region);
      // a region that has lost a sample confirms one cadence later
      t.ok(vote.slow >= (confirms ? 3 : 2), `${what} saw ${vote.slow} slow ones`);
      if (!confirms) continue;
      t.equal(vote.vote, "degraded", what);
      between(t, vote.typicalP50Ms!, [10, 250], `${what}: typical`);
      // half of the window may be from before the fault
      between(t, vote.p50Ms!, [1200, 2800], `${what}: now`);
    }
  }
}

/** Only instants at which something happened were decided. The result must be the same as if all had been. */
async function decidedAtOnce(t: Test, { pool, beginMs }: Day) {
  const rows = await pool.query<{ slug: string; confirmedBefore: boolean; wellSince: string; wellBefore: string }>(sql`
    with rules as (
      select jsonb_populate_record(null::engine.rules, ${JSON.stringify(rulesRow)}::jsonb) as r
    ),
    instants as (
      select
        i.*,
        i.opened_at - engine.ms((r).step_ms) as before,
        i.closed_at - engine.ms(case when i.flapping then (r).flap_hold_ms else (r).recovery_hold_ms end) as well_at
      from incident i, rules
      where i.started_at > ${new Date(beginMs)}
    )
    select
      i.slug,
      (b.evidence ->> 'confirming')::int >= (b.evidence ->> 'quorum')::int as "confirmedBefore",
      w.evidence ->> 'state' as "wellSince",
      n.evidence ->> 'state' as "wellBefore"
    from instants i
    cross join rules
    cross join lateral engine.evidence(array[i.component_id], i.before - interval '10 minutes', i.before, i.before, r) b
    cross join lateral engine.evidence(array[i.component_id], i.well_at - interval '10 minutes', i.well_at, i.well_at, r) w
    cross join lateral (select i.well_at - engine.ms((r).step_ms) as at) p
    cross join lateral engine.evidence(array[i.component_id], p.at - interval '10 minutes', p.at, p.at, r) n
  `);
  t.equal(rows.length, expected.length);
  for (const { slug, confirmedBefore, wellSince, wellBefore } of rows) {
    t.notOk(confirmedBefore, `${slug} opened as soon as it was confirmed`);
    t.equal(wellSince, "operational", `${slug} was well for its whole hold`);
    t.match(wellBefore, /degraded|outage/, `${slug} was not well before`);
  }
}

async function blockedInOneRegion(t: Test, { pool, url, beginMs }: Day) {
  const at = new Date(beginMs + 3 * 3600_000 + 30_000);
  const rows = await pool.query<{ state: string; notCounted: { region: string; reason: string }[] }>(sql`
    select e.evidence ->> 'state' as state, e.evidence -> 'notCounted' as "notCounted"
    from engine.evidence(
      array(
        select c.component_id from component c join venue v using (venue_id)
        where v.venue = 'binance' and c.kind = 'rest'
      ),
      ${at}::timestamptz - interval '10 minutes', ${at}, ${at},
      jsonb_populate_record(null::engine.rules, ${JSON.stringify(rulesRow)}::jsonb)
    ) e
  `);
  t.equal(rows.length, 5);
  for (const { state, notCounted } of rows) {
    t.equal(state, "operational");
    t.match(notCounted, [{ region: "us-east", reason: /refuse/ }]);
  }
  const { regions, days } = await get<VenuePage>(`${url}/v1/exchanges/binance`);
  for (const { region, goodPct } of regions.compare)
    if (region === "us-east") between(t, goodPct, [30, 80], region);
    else t.ok(goodPct > 98, `${region}: ${goodPct} %`);
  for (const { uptimePct } of days) if (uptimePct !== null) t.equal(uptimePct, 100);
}

async function impairedIsRecorded(t: Test, { url, beginMs }: Day) {
  const begunS = 21 * 3600;
  const endedS = begunS + 6 * minuteS;
  const regions = await readRegions(url);
  for (const { id, impaired } of regions) t.equal(impaired, null, `${id} is no longer impaired`);
  const all = regions.flatMap(({ id, impairments }) => impairments.map((one) => ({ id, ...one })));
  t.match(all, [{ id: "us-east", measured: 15 }]);
  t.equal(all.length, 1);
  const { startedAt, recognisedAt, endedAt, venues } = all[0]!;
  t.ok(venues.length > 7, `by ${venues.length} venues`);
  t.notOk(venues.includes("binance"), "because it was blocked there before");
  between(t, secondsOf(startedAt, beginMs) - begunS, [-20, 30], "started");
  between(t, secondsOf(recognisedAt, beginMs) - begunS, [4, 32], "recognised");
  between(t, secondsOf(endedAt!, beginMs) - endedS, [20, 60], "ended");
}

async function streamsAreNotServed(t: Test, { pool, beginMs }: Day) {
  const from = new Date(beginMs + 12 * 3600_000);
  const [row] = await pool.query<{ streams: number; unserved: number; sockets: number }>(sql`
    select
      count(*) filter (where c.component <> 'ws:conn') as streams,
      count(*) filter (where c.component <> 'ws:conn' and s.unserved and s.fault = 'timeout' and s.quiet_ms is null) as unserved,
      count(*) filter (where c.component = 'ws:conn') as sockets
    from sample s
    join component c using (component_id)
    join venue v using (venue_id)
    where v.venue = 'kraken' and c.kind = 'ws'
      and s.ts >= ${from} and s.ts < ${from}::timestamptz + interval '6 minutes'
  `);
  t.ok(row!.streams > 0);
  t.match(row, { sockets: 3 * 36, unserved: row!.streams }, "all with the fault of the socket");
}

async function patternsAndBars(t: Test, { url }: Day) {
  const gemini = await get<VenuePage>(`${url}/v1/exchanges/gemini`);
  t.match(gemini.incidentPatterns[0], { component: "rest:ticker", severity: "outage", incidents: { length: 3 } });
  const degraded: Record<string, [number, number]> = {
    okx: [12, 14],
    bybit: [9, 11],
    gemini: [4, 8],
    kucoin: [8, 10],
    // blocked, limited or impaired in one region, and slow, which is no failure; a second region may also lose a sample
    binance: [0, 3],
    gate: [0, 3],
    bitget: [0, 3],
    coinbase: [0, 3],
  };
  // the day before the demo is part of two UTC days
  const newestDays = async (venue: string) => (await get<VenuePage>(`${url}/v1/exchanges/${venue}`)).days.slice(-2);
  const sum = (minutes: (number | null)[]) => minutes.reduce<number>((all, one) => all + (one ?? 0), 0);
  for (const [venue, bounds] of Object.entries(degraded)) {
    const days = await newestDays(venue);
    between(t, sum(days.map(({ degradedMinutes }) => degradedMinutes)), bounds, `${venue}: degraded minutes`);
    for (const { downMinutes } of days) t.equal(downMinutes, 0, venue);
  }
  // its socket was down, and with it all its streams; one kind is enough for the venue to be down
  const days = await newestDays("kraken");
  between(t, sum(days.map(({ downMinutes }) => downMinutes)), [6, 8], "kraken: down minutes");
}

/** Core continues from the last instant: it has a few to decide, and finds nothing in them. */
async function coreGoesOn(t: Test, { pool, now }: Day) {
  const upTo = new Date(+now + 30_000);
  const { length } = await dueInstants(pool, upTo);
  t.ok(length <= 16, `${length} instants are due`);
  for await (const decided of decideUpTo(pool, upTo)) t.match(decided, { opened: [], closed: [], retracted: [] });
}

/** The history is invented, so no channel receives any of it, whether it existed before or is added afterwards. */
async function noAlertIsSent(t: Test, { pool }: Day) {
  await addChannel(pool);
  t.match(await pool.file("expand_alerts", [null, 1000]), [{ events: 0, deliveries: 0 }]);
  const [row] = await pool.query<{ events: number; atOnce: boolean }>(
    sql`select count(*) as events, bool_and(dispatched_at = recorded_at) as "atOnce" from alert_event`,
  );
  t.ok(row!.events >= expected.length * 2 && row!.atOnce);
}

interface VenuePage {
  days: { uptimePct: number | null; downMinutes: number | null; degradedMinutes: number | null }[];
  regions: { compare: { region: string; goodPct: number }[] };
  incidentPatterns: { incidents: unknown[] }[];
}

function secondsOf(instant: string, beginMs: number): number {
  return (Date.parse(instant) - beginMs) / 1000;
}

function between(t: Test, value: number, [least, most]: [number, number], what: string) {
  t.ok(value >= least && value <= most, `${what}: ${value}, expected ${least} to ${most}`);
}
