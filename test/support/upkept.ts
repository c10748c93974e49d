/** Samples for upkeep, its steps, and the roll-ups that result, compared with those of a model. */
import type { Test } from "tap";
import { type Pool, sql } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { randomFrom, samplesWithin } from "./random-samples.js";
import {
  type Component,
  type RawSample,
  rollUp,
  latencyHours,
  restHours,
  streamHours,
  usualHours,
} from "./rollup-model.js";

export const quiet = makeLog("test", "error");
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export const rollups = [
  "sample_minute",
  "sample_hour",
  "component_minute",
  "venue_minute",
  "component_day",
  "venue_day",
  "latency_day",
  "venue_latency_day",
];

/** No query reads them for a day that is over, and they are dropped with raw samples. */
export const addedUp = ["component_hour", "venue_hour"];

/** Of these, only closed buckets: hours, and five days. */
const overOnly = ["rest_hour", "stream_hour", "latency_hour", "usual_hour"];
export const usual = "usual_hour";

/** Samples of two endpoints and two streams of one venue. */
export function samplesAround(at: Date, minutes: number): RawSample[] {
  const random = randomFrom(Math.floor(+at / dayMs));
  const first = Math.floor(+at / minuteMs) * minuteMs;
  return Array.from({ length: minutes }, (_, i) =>
    samplesWithin(random, new Date(first + i * minuteMs), 5, [1, 2, 6, 8], [1, 2, 3]),
  ).flat();
}

/** Runs every procedure, over more than ever existed. */
export async function refreshEverything(pool: Pool, now: Date) {
  await pool.query(sql`call upkeep.refresh_newest(${now})`);
  await pool.query(sql`call upkeep.refresh_open_buckets(${now})`);
  await pool.query(sql`call upkeep.refresh_late(${now})`);
  await pool.query(sql`call upkeep.refresh_all('-infinity', ${now})`);
  await pool.query(sql`call upkeep.refresh_all(${new Date(+now - 400 * dayMs)}, ${now})`);
}

export async function retain(pool: Pool, now: Date): Promise<number> {
  const [row] = await pool.query<{ dropped: number }>(sql`call upkeep.retain(${now})`);
  return row!.dropped;
}

export async function heldBy(pool: Pool) {
  const held: Record<string, object[]> = {};
  for (const rollup of [...rollups, ...addedUp, ...overOnly])
    held[rollup] = await pool.text<object>(`select * from ${rollup} order by ${rollup}`, []);
  return held;
}

export async function rolledUp(
  t: Test,
  pool: Pool,
  samples: RawSample[],
  now: Date,
  rolledUpLevels = [...rollups, ...overOnly],
) {
  const components = await pool.query<Component>(sql`select component_id, venue_id, kind from component`);
  const addedUpTo = new Date(+now - 5 * minuteMs);
  const levels = rollUp(samples, components, { regions: 3, addedUpTo });
  const keptTo = new Date(+now - 2 * minuteMs);
  const expected: Record<string, object[]> = {
    ...levels,
    rest_hour: restHours(samples, components, keptTo),
    stream_hour: streamHours(samples, components, keptTo),
    latency_hour: latencyHours(samples, components, keptTo),
    usual_hour: usualHours(levels.sample_hour, components, now),
  };
  const held = await heldBy(pool);
  const texts = (rows: object[]) =>
    rows.map((row) => JSON.stringify(Object.fromEntries(Object.entries(row).sort()))).sort();
  for (const rollup of rolledUpLevels)
    t.strictSame(texts(held[rollup]!), texts(expected[rollup]!), `${rollup} agrees with the model`);
}
