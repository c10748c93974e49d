/** A quarter of an eventful fleet of all categories, for tests that must see everything that rarely happens. */
import { type Pool, sql } from "../../shared/database/pool.js";
import type { Registry } from "../../shared/registry/registry.js";
import { faults } from "../../shared/measurement/sample.js";
import { troubleKinds } from "../../shared/measurement/trouble.js";
import { decide, measured, pastIncident, unmeasured } from "./fleet.js";
import { member } from "./member.js";
import { notice, said, whole } from "./said.js";

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

/** Fills a database of `registry-all.json` that has no samples. */
export async function muchBefell(pool: Pool): Promise<void> {
  nowMs = Date.now();
  await probesReport(pool);
  await recurringIncidents(pool);
  await typicalLatencies(pool);
  await measured(pool, { from: ago(420), to: ago(0) });
  await everyFault(pool);
  await escalation(pool);
  await numbersLeftOut(pool);
  await outagesBesideSilence(pool);
  await failingInPart(pool);
  await refused(pool);
  await incidentsBesideLatency(pool);
  await whatVenuesSaid(pool);
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
    ...{ region: "eu-central", unmeasured, machine },
    vantage: { name: "fra-1", place: "Frankfurt", network: "AS64496" },
    troubles: troubleKinds.map((kind) => ({ ...{ kind, since: ago(60), detail: `as ${kind} may be` } })),
    clock: { errorMs: -Date.now(), withinMs: 40.5 },
  }).renew();
  await member(pool, { unmeasured, machine }).renew();
  await member(pool, {
    ...{ region: "ap-southeast", unmeasured },
    vantage: { name: "sin-1", place: "Singapore", network: "AS64497" },
  }).renew();
  // they reported this before anything was decided
  await pool.query(sql`update region_vantage set holds_from = ${ago(1000)}`);
  await pool.query(sql`update probe set seen_at = ${ago(1000)}`);
}

/** Incidents on each weekday at one hour, on days at one hour, and on one weekday at any hour. */
async function recurringIncidents(pool: Pool): Promise<void> {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const incident = (component: string, daysBack: number, hour: number) => {
    const [venue = "", id = ""] = component.split(" ");
    const startedAt = new Date(today - daysBack * dayMs + hour * hourMs);
    return pastIncident(pool, { venue, component: id, startedAt, minutes: 5 });
  };
  const components = await pool.query<{ component: string }>(sql`
    select v.venue || ' ' || c.component as component
    from component c
    join venue v using (venue_id)
    where v.venue in ('kraken', 'binance')
    order by c.component_id
    limit 7
  `);
  for (const [weekday, { component }] of components.entries())
    for (const week of [1, 2, 3]) await incident(component, week * 7 + weekday, 14);
  for (const daysBack of [3, 11, 20]) await incident("bybit rest:ticker", daysBack, 6);
  for (const week of [1, 2, 3, 4]) await incident("across rest:quote", week * 7, week * 3);
}

async function typicalLatencies(pool: Pool): Promise<void> {
  await pool.query(sql`
    insert into typical_latency (holds_from, component_id, region_id, p50_us, hours)
    select distinct engine.typical_in_force(w.at), c.component_id, g.region_id, 80000, 168
    from (values (now()), (now() - interval '15 minutes')) as w (at)
    cross join component c
    cross join region g
    where c.component = 'rest:ticker'
  `);
}

/** Every fault at one venue each, from one region alone. */
async function everyFault(pool: Pool): Promise<void> {
  const venues = ["binance", "coinbase", "bybit", "okx", "kucoin", "gate"];
  for (const [i, fault] of faults.entries())
    await measured(pool, {
      from: ago(60),
      to: ago(0),
      venue: venues[i % venues.length]!,
      component: i < venues.length ? "rest:ticker" : "ws:trades",
      regions: ["eu-central"],
      fault,
    });
}

/** A few bad samples in a row make it degraded, more of them an outage. */
async function escalation(pool: Pool): Promise<void> {
  await measured(pool, {
    from: ago(361),
    to: ago(0),
    venue: "gemini",
    component: "rest:ticker",
    regions: ["eu-central", "us-east"],
    fault: "timeout",
  });
}

/** Missing numbers of a stream that numbers its frames. */
async function numbersLeftOut(pool: Pool): Promise<void> {
  await pool.query(sql`
    update sample s
    set sequence_gaps = 2
    from component c
    join venue v using (venue_id)
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
    await measured(pool, { ...{ ...where, from: ago(350), to: ago(0), fault: "http" } });
    await unmeasured(pool, { ...{ ...where, from: ago(silentFor), to: ago(-10), regions: [region] } });
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

/** A stream whose subscription the venue refused. */
async function refused(pool: Pool): Promise<void> {
  const where = { venue: "kraken", component: "ws:trades" };
  await measured(pool, { ...where, from: ago(360), to: ago(0), fault: "body" });
  await pool.query(sql`
    update sample s
    set refusal = 'Currency pair not supported'
    from component c, venue v
    where c.component_id = s.component_id and v.venue_id = c.venue_id
      and v.venue = 'kraken' and c.component = 'ws:trades' and s.fault = 'body'
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
  const recent = { startedAt: ago(120), minutes: 1 };
  await unmeasured(pool, { venue: "deribit", from: ago(240), to: ago(-10) });
  for (const [venue, component] of [
    ["okx", "ws:trades"],
    // stall thresholds with a better basis
    ["binance", "ws:ticker"],
    ["binance", "ws:book"],
    ["gate", "ws:ticker"],
    ["deribit", "rest:ticker"],
    ["publicnode", "rest:block"],
  ] as const)
    await pastIncident(pool, { venue, component, ...recent });
  await pastIncident(pool, { venue: "kucoin", component: "rest:book", startedAt: ago(600), minutes: 5 });
}

/**
 * Notices next to five incidents of one venue, long enough ago to count, and next to none; taken down, impossible, and
 * of all kinds, with and without optional fields.
 */
async function whatVenuesSaid(pool: Pool): Promise<void> {
  const began = [8, 8.1, 8.2, 8.3, 8.4].map((hours) => ago(hours * 3_600));
  for (const startedAt of began)
    await pastIncident(pool, { ...{ venue: "kraken", component: "rest:time", minutes: 0.1 }, startedAt });
  const notices = began.map((startedAt, n) =>
    notice(`n${n}`, startedAt, {
      ...(n === 0 && { url: "https://status.kraken.com/incidents/n0" }),
      ...(n === 1 && { resolvedAt: ago(200), impact: null }),
      title: "Slow answers",
    }),
  );
  await said(pool, "kraken", ago(200), [
    whole(
      ...notices,
      notice("gone", ago(200_000)),
      notice("deposits", ago(9_000), { title: "Deposits of XYZ are late" }),
      notice("next", ago(-90_000), { kind: "maintenance", postedAt: null }),
      notice("impossible", ago(-90_000)),
    ),
  ]);
  // the other notices left the feed, and are marked as taken down
  await said(pool, "kraken", ago(150), [whole(...notices)]);
  await pastIncident(pool, { ...{ venue: "okx", component: "rest:ticker", minutes: 1 }, startedAt: ago(200) });
  const unknownWhen = notice("o", ago(190), { postedAt: null });
  await said(pool, "okx", ago(150), [{ scope: "notices", notices: [unknownWhen], listedFrom: null }]);
  await said(pool, "gemini", ago(150), [], { problem: "answered 503" });
}
