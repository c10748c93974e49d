/** A quarter of an eventful fleet of all categories, for tests that must see everything that rarely happens. */
import { type Pool, sql } from "../../shared/database/pool.js";
import type { Registry } from "../../shared/registry/registry.js";
import { faults, troubleKinds } from "../../shared/measurement/sample.js";
import { decide, measured, pastIncident, unmeasured } from "./fleet.js";
import { member } from "./member.js";
import { notice, said, whole } from "./stored-notices.js";

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/**
 * One instant for everything: on a busy machine, filling in the past takes time, and spans between instants must not
 * grow by it.
 */
let nowMs = 0;

function ago(seconds: number): Date {
  return new Date(nowMs - seconds * 1000);
}

/** Fills a database of `registry/all.json` that has no samples. */
export async function insertManyEvents(pool: Pool): Promise<void> {
  nowMs = Date.now();
  await probesReport(pool);
  await recurringIncidents(pool);
  await typicalLatencies(pool);
  await measured(pool, { from: ago(420), to: ago(0) });
  await everyFault(pool);
  // a few bad samples in a row make it degraded, more of them an outage
  const gemini = { venue: "gemini", component: "rest:ticker", regions: ["eu-central", "us-east"] };
  await measured(pool, { from: ago(361), to: ago(0), ...gemini, fault: "timeout" });
  await numbersLeftOut(pool);
  await outagesBesideSilence(pool);
  await failingInPart(pool);
  await refusedSubscription(pool);
  await incidentsBesideLatency(pool);
  await venueNotices(pool);
  for (const seconds of [344, 300, 250, 20]) await decide(pool, ago(seconds));
  await pool.query(sql`
    update component set published = false
    where component = 'rest:ticker' and venue_id = (select venue_id from venue where venue = 'bitstamp')
  `);
  await decide(pool, ago(0));
  await impairments(pool);
}

/** Adds stall thresholds to a registry as if they were derived from measured silences. */
export function measuredStalls(registry: Registry): Registry {
  const copy = structuredClone(registry);
  const [stream] = copy.venues.find(({ socket }) => socket)!.socket!.streams;
  stream!.stall = {
    afterMs: 20_000,
    distribution: { periods: 12_345, from: "2026-01-01", to: "2026-01-08", p50Ms: 120, p99Ms: 2_000, p999Ms: 9_000 },
  };
  return copy;
}

/**
 * Inserts one healthy probe with a correct clock, and one with every trouble, on a machine whose clock is in 1970. Both
 * run on one machine, and one of them reports its place. Another probe reports its place, but not its machine.
 */
async function probesReport(pool: Pool): Promise<void> {
  const unmeasured = { late: 3 };
  const machine = "6f1d0c2b9a4e";
  await member(pool, {
    region: "eu-central",
    unmeasured,
    machine,
    vantage: { name: "fra-1", place: "Frankfurt", network: "AS64496" },
    troubles: troubleKinds.map((kind) => ({ kind, since: ago(60), detail: `as ${kind} may be` })),
    clock: { errorMs: -Date.now(), withinMs: 40.5 },
  }).renew();
  await member(pool, { unmeasured, machine }).renew();
  const singapore = { name: "sin-1", place: "Singapore", network: "AS64497" };
  await member(pool, { region: "ap-southeast", unmeasured, vantage: singapore }).renew();
  // they reported this before anything was decided
  await pool.query(sql`update region_vantage set holds_from = ${ago(1000)}`);
  await pool.query(sql`update probe set seen_at = ${ago(1000)}`);
}

/** @param of the venue and its component, such as `okx rest:ticker` */
async function past(pool: Pool, of: string, startedAt: Date, minutes: number): Promise<void> {
  const [venue = "", component = ""] = of.split(" ");
  await pastIncident(pool, { venue, component, startedAt, minutes });
}

/** Incidents on each weekday at one hour, on days at one hour, and on one weekday at any hour. */
async function recurringIncidents(pool: Pool): Promise<void> {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const incident = (component: string, daysBack: number, hour: number) =>
    past(pool, component, new Date(today - daysBack * dayMs + hour * hourMs), 5);
  const rest = ["rest:ping", "rest:time", "rest:ticker", "rest:book", "rest:trades"];
  for (const [weekday, component] of [...rest, "ws:ticker", "ws:trades"].entries())
    for (const week of [1, 2, 3]) await incident(`binance ${component}`, week * 7 + weekday, 14);
  for (const daysBack of [3, 11, 20]) await incident("bybit rest:ticker", daysBack, 6);
  for (const week of [1, 2, 3, 4]) await incident("across rest:quote", week * 7, week * 3);
}

async function typicalLatencies(pool: Pool): Promise<void> {
  await pool.query(sql`
    insert into typical_latency (holds_from, component_id, region_id, p50_us, hours)
    select distinct engine.typical_in_force(w.at), c.component_id, g.region_id, 80000, 168
    from (values (now()), (now() - interval '15 minutes')) as w (at), component c, region g
    where c.component = 'rest:ticker'
  `);
}

/** Every fault at one venue each, from one region alone. */
async function everyFault(pool: Pool): Promise<void> {
  const venues = ["binance", "coinbase", "bybit", "okx", "kucoin", "gate"];
  for (const [i, fault] of faults.entries()) {
    const where = { venue: venues[i % venues.length]!, component: i < venues.length ? "rest:ticker" : "ws:trades" };
    await measured(pool, { from: ago(60), to: ago(0), ...where, regions: ["eu-central"], fault });
  }
}

/** Missing numbers of a stream that numbers its frames. */
async function numbersLeftOut(pool: Pool): Promise<void> {
  await pool.query(sql`
    update sample s
    set sequence_gaps = 2
    from component c join venue v using (venue_id)
    where c.component_id = s.component_id and v.venue = 'kraken-futures' and c.component = 'ws:book' and s.ts >= ${ago(60)}
  `);
}

/**
 * One region fell silent before the first outage, another never reported before the second. Only in one of the outages,
 * the remaining regions share a machine.
 */
async function outagesBesideSilence(pool: Pool): Promise<void> {
  for (const [component, region, silentFor] of [
    ["rest:ticker", "us-east", 410],
    ["rest:fx", "ap-southeast", 1000],
  ] as const) {
    const where = { venue: "bitstamp", component };
    await measured(pool, { ...where, from: ago(350), to: ago(0), fault: "http" });
    await unmeasured(pool, { ...where, from: ago(silentFor), to: ago(-10), regions: [region] });
  }
}

/** Every third answer fails, from two regions and never many in a row. */
async function failingInPart(pool: Pool): Promise<void> {
  await pool.query(sql`
    update sample s
    set good = false, fault = 'http', latency_us = null
    from component c, venue v, region g
    where c.component_id = s.component_id and v.venue_id = c.venue_id and g.region_id = s.region_id
      and v.venue = 'coinbase' and c.component = 'rest:book' and g.region in ('eu-central', 'us-east')
      and extract(epoch from s.ts)::bigint / (c.cadence_ms / 1000) % 3 = 0
  `);
}

async function refusedSubscription(pool: Pool): Promise<void> {
  const where = { venue: "kraken", component: "ws:trades" };
  await measured(pool, { ...where, from: ago(360), to: ago(0), fault: "body" });
  await pool.query(sql`
    update sample s
    set refusal = 'Currency pair not supported'
    from component c join venue v using (venue_id)
    where c.component_id = s.component_id and v.venue = 'kraken' and c.component = 'ws:trades' and s.fault = 'body'
  `);
}

/**
 * An ended impairment of one region, and an ongoing one of the two regions of a machine. Insert them after all
 * decisions, because the next one would end the latter.
 */
async function impairments(pool: Pool): Promise<void> {
  await pool.query(sql`
    insert into impairment (region_id, started_at, recognised_at, ended_at, venues, measured, beside)
    select region_id, ${ago(9_000)}::timestamptz, ${ago(8_990)}::timestamptz, ${ago(8_000)}::timestamptz, array['kraken', 'okx'], 3, null
    from region
    where region = 'ap-southeast'
    union all
    select region_id, ${ago(400)}::timestamptz, ${ago(390)}::timestamptz, null, array['kraken', 'okx'], 3, array_agg(region_id) over ()
    from region
    where region in ('eu-central', 'us-east')
  `);
}

/**
 * Incidents of a stream, of endpoints that answered only before or not before it, and of a venue that trades nothing.
 */
async function incidentsBesideLatency(pool: Pool): Promise<void> {
  await unmeasured(pool, { venue: "deribit", from: ago(240), to: ago(-10) });
  // stall thresholds with a better basis
  const streams = ["binance ws:ticker", "binance ws:book", "gate ws:ticker"];
  for (const of of [...streams, "okx ws:trades", "deribit rest:ticker", "publicnode rest:block"])
    await past(pool, of, ago(120), 1);
  await past(pool, "kucoin rest:book", ago(600), 5);
}

/**
 * Notices next to five incidents of one venue, long enough ago to count, and next to none; taken down, impossible, and
 * of all kinds, with and without optional fields.
 */
async function venueNotices(pool: Pool): Promise<void> {
  const began = [8, 8.1, 8.2, 8.3, 8.4].map((hours) => ago(hours * 3_600));
  for (const startedAt of began) await past(pool, "kraken rest:time", startedAt, 0.1);
  const notices = began.map((startedAt, n) =>
    notice(`n${n}`, startedAt, {
      ...(n === 0 && { url: "https://status.kraken.com/incidents/n0" }),
      ...(n === 1 && { resolvedAt: ago(200), impact: null }),
      title: "Slow answers",
    }),
  );
  const others = [
    notice("gone", ago(200_000)),
    notice("deposits", ago(9_000), { title: "Deposits of XYZ are late" }),
    notice("next", ago(-90_000), { kind: "maintenance", postedAt: null }),
    notice("impossible", ago(-90_000)),
  ];
  await said(pool, "kraken", ago(200), [whole(...notices, ...others)]);
  // the other notices left the feed, and are marked as taken down
  await said(pool, "kraken", ago(150), [whole(...notices)]);
  await past(pool, "okx rest:ticker", ago(200), 1);
  const unknownWhen = notice("o", ago(190), { postedAt: null });
  await said(pool, "okx", ago(150), [{ scope: "notices", notices: [unknownWhen], listedFrom: null }]);
  await said(pool, "gemini", ago(150), [], { problem: "answered 503" });
}
