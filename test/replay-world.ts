/**
 * An hour of five venues in which all that a replay has to get right happens, across midnight: an outage, flapping, a slow
 * endpoint, samples that come late and take an incident back, an impaired region, witnesses that fall silent, an
 * incident that an operator retracts while it goes on; over a noise of single failures and late samples.
 */
import { type Pool, sql } from "../server/db.js";
import { accepted, decideUpTo } from "../server/engine/tick.js";
import type { Fault } from "../server/sample.js";
import { randomFrom } from "./random-samples.js";

export const startsAt = new Date("2026-01-15T23:30:00Z");
export const lastsS = 3600;

/** @param s seconds since the start */
export function afterS(s: number): Date {
  return new Date(+startsAt + s * 1000);
}

const venues = ["binance", "okx", "kraken", "gate", "bybit"];
const components = ["rest:ticker", "rest:book", "ws:conn", "ws:trades"];
const regions = ["eu-central", "ap-southeast", "us-east"];
const stepS = 5;
const typicalMs = 80;

interface Trouble {
  venue?: string;
  component?: string;
  regions?: string[];
  fromS: number;
  toS: number;
  /** `slow`: good, but so; `silent`: not measured; `late`: failed, but every third one was good, and came two minutes late. */
  as: Fault | "slow" | "silent" | "late";
}

const two = ["eu-central", "us-east"];

const troubles: Trouble[] = [
  // seen first by two regions, then by all: degraded, outage, over
  {
    venue: "binance",
    component: "rest:ticker",
    regions: two,
    fromS: 300,
    toS: 420,
    as: "timeout",
  },
  {
    venue: "binance",
    component: "rest:ticker",
    fromS: 360,
    toS: 420,
    as: "timeout",
  },
  // again on the next day, by UTC, and once more: three names
  {
    venue: "binance",
    component: "rest:book",
    fromS: 400,
    toS: 460,
    as: "http",
  },
  {
    venue: "binance",
    component: "rest:ticker",
    fromS: 1900,
    toS: 1960,
    as: "http",
  },
  {
    venue: "binance",
    component: "rest:book",
    fromS: 1930,
    toS: 2000,
    as: "http",
  },
  // four times within the hour: the third one flaps, the fourth extends it
  ...[500, 800, 1100, 1500].map((fromS) => ({
    venue: "okx",
    component: "rest:ticker",
    fromS,
    toS: fromS + 60,
    as: "limited" as const,
  })),
  {
    venue: "gate",
    component: "rest:ticker",
    regions: two,
    fromS: 700,
    toS: 900,
    as: "slow",
  },
  {
    venue: "bybit",
    component: "rest:book",
    regions: two,
    fromS: 1000,
    toS: 1120,
    as: "late",
  },
  {
    venue: "bybit",
    component: "rest:book",
    regions: ["ap-southeast"],
    fromS: 900,
    toS: 1200,
    as: "silent",
  },
  // a whole region
  { regions: ["us-east"], fromS: 1240, toS: 1420, as: "connect" },
  // its two witnesses fall silent, and come back much later
  {
    venue: "kraken",
    component: "ws:conn",
    regions: two,
    fromS: 600,
    toS: 690,
    as: "closed",
  },
  {
    venue: "kraken",
    component: "ws:conn",
    regions: two,
    fromS: 690,
    toS: 2900,
    as: "silent",
  },
  // no witness, no incident
  {
    venue: "kraken",
    component: "ws:trades",
    regions: ["us-east"],
    fromS: 2000,
    toS: 2300,
    as: "stall",
  },
  {
    venue: "bybit",
    component: "ws:conn",
    fromS: 2400,
    toS: 2700,
    as: "closed",
  },
  { venue: "gate", component: "rest:book", fromS: 3400, toS: 3600, as: "body" },
];

/** When an operator retracts what is open of Bybit's socket. It goes on, so another one opens at the next instant. */
export const byHandS = 2500;

/** Inserts the samples, and lets the engine decide all of it, as it comes. */
export async function liveThrough(pool: Pool): Promise<void> {
  await pool.query(sql`update venue set published = venue = any (${venues})`);
  await insertSamples(pool);
  await pool.query(sql`
    insert into typical_latency (holds_from, component_id, region_id, p50_us, hours)
    select distinct engine.typical_in_force(at), c.component_id, g.region_id, ${typicalMs * 1000}::int, 168
    from generate_series(${startsAt}::timestamptz, ${startsAt}::timestamptz + interval '1 hour', '10 minutes') at, component c, region g
    where c.kind = 'rest'
  `);
  await pool.script("analyze");
  await decide(pool, 0);
  // as if it had been away: what it missed is decided at once, and gives the same
  for (const s of [...range(2, byHandS, 2), byHandS + 300]) {
    await decide(pool, s);
    if (s === byHandS) await retractByHand(pool);
  }
  for (const s of range(byHandS + 302, lastsS, 2)) await decide(pool, s);
}

async function decide(pool: Pool, s: number): Promise<void> {
  for await (const decided of decideUpTo(pool, afterS(s))) accepted(decided);
}

async function retractByHand(pool: Pool): Promise<void> {
  await pool.query(sql`
    update incident i set retracted_at = e.ticked_at, retraction_reason = 'a test of ours'
    from engine_clock e, component c, venue v
    where c.component_id = i.component_id and v.venue_id = c.venue_id and v.venue = 'bybit' and c.component = 'ws:conn'
  `);
}

async function insertSamples(pool: Pool): Promise<void> {
  const random = randomFrom(7);
  const rows = venues.flatMap((venue) =>
    components.flatMap((component) =>
      regions.flatMap((region) =>
        range(0, lastsS, stepS).flatMap((s) => {
          const sample = sampleAt({ venue, component, region }, s, random);
          return sample ? [{ venue, component, region, s, ...sample }] : [];
        }),
      ),
    ),
  );
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us, received_after_s)
    select ${startsAt}::timestamptz + r.s * interval '1 second', c.component_id, g.region_id, r.fault is null, r.fault,
      r."latencyMs" * 1000, r."afterS"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      venue text, component text, region text, s int, fault fault, "latencyMs" int, "afterS" int
    )
    join venue v using (venue)
    join component c on c.venue_id = v.venue_id and c.component = r.component
    join region g using (region)
  `);
}

type Series = Record<"venue" | "component" | "region", string>;

function sampleAt(series: Series, s: number, random: () => number) {
  const [noise, delay] = [random(), random()];
  const as = troubles
    .filter((one) => isOf(one, series) && s >= one.fromS && s < one.toS)
    .at(-1)?.as;
  const afterS = delay < 0.03 ? 5 + Math.floor(delay * 10_000) : 1;
  const latencyMs = series.component.startsWith("rest") ? typicalMs : null;
  const good = { fault: null, latencyMs, afterS };
  if (as === "silent" || noise > 0.99) return null;
  if (as === "slow") return { ...good, latencyMs: 2_500 };
  if (as === "late")
    return s % 15 === 0
      ? { ...good, afterS: 120 }
      : { fault: "timeout", latencyMs: null, afterS: 1 };
  const fault =
    as ??
    (noise < 0.02
      ? series.component.startsWith("rest")
        ? "timeout"
        : "stall"
      : null);
  return fault === null ? good : { fault, latencyMs: null, afterS };
}

function isOf({ venue, component, regions }: Trouble, series: Series): boolean {
  return (
    (venue ?? series.venue) === series.venue &&
    (component ?? series.component) === series.component &&
    (regions?.includes(series.region) ?? true)
  );
}

function range(from: number, to: number, step: number): number[] {
  return Array.from(
    { length: Math.floor((to - from) / step) + 1 },
    (_, i) => from + i * step,
  );
}
