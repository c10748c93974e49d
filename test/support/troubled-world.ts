/**
 * Samples of some venues for a while, good except for the given troubles, and an engine that decides them as they
 * arrive.
 */
import { type Pool, sql } from "../../shared/database/pool.js";
import { rulesRow } from "../../shared/rules/engine-rules.js";
import { accepted, decideUpTo } from "../../server/core/engine/tick.js";
import type { Fault } from "../../shared/measurement/sample.js";
import { insertSamples } from "./engine-on-worlds.js";
import { randomFrom } from "./random-samples.js";
import type { Sample } from "../second-opinion/world.js";

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
const typicalUs = 80_000;

export function after(world: World, s: number): Date {
  return new Date(+world.startsAt + s * 1000);
}

/** Nothing else is watched from then on. */
export async function fill(pool: Pool, world: World): Promise<void> {
  await pool.query(sql`update venue set published = venue = any (${world.venues})`);
  await pool.query(sql`update component set published = component = any (${world.components})`);
  await insertSamples(pool, samplesOf(world));
  await pool.query(sql`
    insert into typical_latency (holds_from, component_id, region_id, p50_us, hours)
    select distinct engine.typical_in_force(at), c.component_id, g.region_id, ${typicalUs}::int, 168
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

function samplesOf(world: World): Sample[] {
  const random = randomFrom(7);
  const slots = Array.from({ length: world.lastsS / slotS }, (_, i) => i * slotS);
  const series = world.venues.flatMap((venue) =>
    world.components.flatMap((component) => regions.map((region) => ({ venue, component, region }))),
  );
  return series.flatMap((one) =>
    slots.flatMap((s) => {
      const sample = sampleAt(world, one, s, random);
      return sample ? [{ ...one, ts: +after(world, s), ...sample, unserved: false }] : [];
    }),
  );
}

type Series = Record<"venue" | "component" | "region", string>;

function sampleAt({ troubles, noise }: World, series: Series, s: number, random: () => number) {
  const isRest = series.component.startsWith("rest:");
  const luck = random();
  const delay = random();
  const as =
    troubles.filter((one) => isOf(one, series) && s >= one.fromS && s < one.toS).at(-1)?.as ??
    (luck < noise ? (isRest ? "timeout" : "stall") : null);
  const receivedAfterS = delay < noise ? Math.ceil((delay / noise) * 300) : 0;
  const good = { fault: null, latencyUs: isRest ? typicalUs : null, receivedAfterS };
  if (as === "silent" || luck > 1 - noise) return null;
  if (as === null) return good;
  const isThird = s % (3 * slotS) === 0;
  if (as === "scattered" && !isThird) return good;
  if (as === "slow") return { ...good, latencyUs: 2_500_000 };
  if (as === "late" && isThird) return { ...good, receivedAfterS: 120 };
  const fault = as === "late" || as === "scattered" ? "timeout" : as;
  return { fault, latencyUs: null, receivedAfterS: as === "late" ? 0 : receivedAfterS };
}

function isOf({ venue, component, regions }: Trouble, series: Series): boolean {
  return (
    (venue ?? series.venue) === series.venue &&
    (component ?? series.component) === series.component &&
    (regions?.includes(series.region) ?? true)
  );
}
