/** Samples for upkeep, its steps, and the roll-ups that result, compared with those of a model. */
import type { Test } from "tap";
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import { rulesRow } from "../../shared/rules/engine-rules.js";
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
  ...["sample_minute", "sample_hour", "component_minute", "venue_minute"],
  ...["component_day", "venue_day", "latency_day", "venue_latency_day"],
];

/** No query reads them for a day that is over, and they are dropped with raw samples. */
export const addedUp = ["component_hour", "venue_hour"];

/** Of these, only closed buckets: hours, and five days. */
const overOnly = ["rest_hour", "stream_hour", "latency_hour", "usual_hour"];
export const allLevels = [...rollups, ...addedUp, ...overOnly];

/** Samples of all components of one venue. */
export function samplesAround(at: Date, minutes: number): RawSample[] {
  const random = randomFrom(Math.floor(+at / dayMs));
  const first = Math.floor(+at / minuteMs) * minuteMs;
  return Array.from({ length: minutes }, (_, i) =>
    samplesWithin(random, new Date(first + i * minuteMs), 5, [1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3]),
  ).flat();
}

/** Runs every procedure, over more than ever existed. */
export async function refreshEverything(pool: Pool, now: Date) {
  await pool.query(sql`call upkeep.refresh_newest(${now})`);
  await pool.query(sql`call upkeep.refresh_open_buckets(${now}, true)`);
  await pool.query(sql`call upkeep.refresh_late(${now})`);
  await pool.query(sql`call upkeep.refresh_all('-infinity', ${now})`);
  await pool.query(sql`call upkeep.refresh_all(${new Date(+now - 400 * dayMs)}, ${now})`);
}

export async function retain(pool: Pool, now: Date): Promise<number> {
  const [row] = await pool.query<{ dropped: number }>(sql`call upkeep.retain(${now})`);
  return row!.dropped;
}

/** Compresses all chunks that are due by then, and returns them in this order. */
export async function compressAll(db: Db, at: Date): Promise<string[]> {
  const chunks: string[] = [];
  for (;;) {
    const [row] = await db.query<{ chunk: string | null }>(sql`select upkeep.compress_next(${at}) as chunk`);
    if (row!.chunk === null) return chunks;
    chunks.push(row!.chunk);
  }
}

/** Sets the newest instant, without decisions, and the rules in force. */
export async function setClock(pool: Pool, at: Date): Promise<void> {
  await pool.query(sql`
    insert into rules_in_force (holds_from, version, rules) values ('-infinity', 'test', ${JSON.stringify(rulesRow)})
    on conflict do nothing
  `);
  await pool.query(sql`
    insert into engine_clock (ticked_at, version, silent_after_ms) values (${at}, 'test', 86400000)
    on conflict (only_row) do update set ticked_at = excluded.ticked_at
  `);
}

/** Excludes minutes of impaired regions an hour at a time, as upkeep does. */
export async function excludeAll(pool: Pool): Promise<void> {
  for (let more = true; more;) {
    const [row] = await pool.query<{ more: boolean }>(sql`call upkeep.exclude_next()`);
    more = row!.more;
  }
}

/** As if all venues had been watched since then. */
export async function watchedSince(pool: Pool, from: Date): Promise<void> {
  await pool.query(sql`update venue set watched_from = ${from}`);
  await pool.query(sql`update component set watched_from = ${from}`);
}

export async function rowsOfRollups(pool: Pool) {
  const held: Record<string, object[]> = {};
  for (const rollup of allLevels)
    held[rollup] = await pool.text<object>(`select * from ${rollup} order by ${rollup}`, []);
  return held;
}

export async function assertRolledUp(
  t: Test,
  pool: Pool,
  samples: RawSample[],
  now: Date,
  levels = [...rollups, ...overOnly],
) {
  const components = await pool.query<Component>(sql`select component_id, venue_id, kind from component`);
  const addedUpTo = new Date(+now - 5 * minuteMs);
  const summed = rollUp(samples, components, { regions: 3, addedUpTo });
  const keptTo = new Date(+now - 2 * minuteMs);
  const expected: Record<string, object[]> = {
    ...summed,
    rest_hour: restHours(samples, components, keptTo),
    stream_hour: streamHours(samples, components, keptTo),
    latency_hour: latencyHours(samples, components, keptTo),
    usual_hour: usualHours(summed.sample_hour, components, now),
  };
  const held = await rowsOfRollups(pool);
  const texts = (rows: object[]) =>
    rows.map((row) => JSON.stringify(Object.fromEntries(Object.entries(row).sort()))).sort();
  for (const rollup of levels)
    t.strictSame(texts(held[rollup]!), texts(expected[rollup]!), `${rollup} agrees with the model`);
}
