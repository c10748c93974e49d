/**
 * Samples of some venues for a while, good except for the given troubles, and an engine that decides them as they
 * arrive.
 */
import { type Pool, sql } from "../../shared/database/pool.js";
import { rulesRow } from "../../server/engine/rules.js";
import { accepted, decideUpTo } from "../../server/engine/tick.js";
import type { Fault } from "../../shared/measurement/sample.js";
import { randomFrom } from "./random-samples.js";

export interface World {
  startsAt: Date;
  lastsS: number;
  venues: string[];
  components: string[];
  troubles: Trouble[];
  /** The share of slots that fail. The same share again is not measured, and the same share again comes late. */
  noise: number;
  /** How often the engine decides, where that differs from the rules. */
  stepS?: number;
}

/** An omitted field means all. Where two apply, the later one wins. */
export interface Trouble {
  venue?: string;
  component?: string;
  regions?: string[];
  fromS: number;
  toS: number;
  /**
   * `slow`: good, but slow; `silent`: not measured; `scattered`: every third one failed; `late`: failed, but every
   * third one was good and came two minutes late.
   */
  as: Fault | "slow" | "silent" | "scattered" | "late";
}

const regions = ["eu-central", "ap-southeast", "us-east"];
const slotS = 5;
const noticedEveryS = 10;
const typicalMs = 80;

export function after(world: World, s: number): Date {
  return new Date(+world.startsAt + s * 1000);
}

/** Nothing else is watched from then on. */
export async function fill(pool: Pool, world: World): Promise<void> {
  await pool.query(sql`update venue set published = venue = any (${world.venues})`);
  await pool.query(sql`update component set published = component = any (${world.components})`);
  await insertSamples(pool, world);
  await pool.query(sql`
    insert into typical_latency (holds_from, component_id, region_id, p50_us, hours)
    select distinct engine.typical_in_force(at), c.component_id, g.region_id, ${typicalMs * 1000}::int, 168
    from generate_series(
      ${world.startsAt}::timestamptz, ${after(world, world.lastsS)}::timestamptz, '10 minutes'
    ) at, component c, region g
    where c.kind = 'rest'
  `);
  await pool.script("analyze");
}

/** Decides the whole span. */
export async function live(pool: Pool, world: World, fromS: number, toS: number): Promise<void> {
  const rules = { ...rulesRow, ...(world.stepS && { step_ms: world.stepS * 1000 }) };
  for (let s = fromS; s < toS + noticedEveryS; s += noticedEveryS) {
    const upTo = after(world, Math.min(s, toS));
    for await (const decided of decideUpTo(pool, upTo, { rules })) accepted(decided);
  }
}

async function insertSamples(pool: Pool, world: World): Promise<void> {
  const random = randomFrom(7);
  const slots = Array.from({ length: world.lastsS / slotS }, (_, i) => i * slotS);
  const series = world.venues.flatMap((venue) =>
    world.components.flatMap((component) => regions.map((region) => ({ venue, component, region }))),
  );
  const rows = series.flatMap((one) =>
    slots.flatMap((s) => {
      const sample = sampleAt(world, one, s, random);
      return sample ? [{ ...one, s, ...sample }] : [];
    }),
  );
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good, fault, latency_us, received_after_s)
    select ${world.startsAt}::timestamptz + r.s * interval '1 second', c.component_id, g.region_id, r.fault is null, r.fault,
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

function sampleAt({ troubles, noise }: World, series: Series, s: number, random: () => number) {
  const isRest = series.component.startsWith("rest:");
  const luck = random();
  const delay = random();
  const as =
    troubles.filter((one) => isOf(one, series) && s >= one.fromS && s < one.toS).at(-1)?.as ??
    (luck < noise ? (isRest ? "timeout" : "stall") : null);
  const afterS = delay < noise ? Math.ceil((delay / noise) * 300) : 0;
  const good = { fault: null, latencyMs: isRest ? typicalMs : null, afterS };
  if (as === "silent" || luck > 1 - noise) return null;
  if (as === null) return good;
  const isThird = s % (3 * slotS) === 0;
  if (as === "scattered" && !isThird) return good;
  if (as === "slow") return { ...good, latencyMs: 2_500 };
  if (as === "late" && isThird) return { ...good, afterS: 120 };
  const fault = as === "late" || as === "scattered" ? "timeout" : as;
  return { fault, latencyMs: null, afterS: as === "late" ? 0 : afterS };
}

function isOf({ venue, component, regions }: Trouble, series: Series): boolean {
  return (
    (venue ?? series.venue) === series.venue &&
    (component ?? series.component) === series.component &&
    (regions?.includes(series.region) ?? true)
  );
}
