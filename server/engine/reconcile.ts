/**
 * Reckons windows of the roll-ups anew from the samples, and mends what differs. What makes a difference is a fault of ours or of
 * TimescaleDB's, and nobody else would notice it.
 *
 * Samples are only ever added. So where there are as many at the end as there were before a refresh, that refresh saw all of them, and what
 * the roll-ups say otherwise is wrong; where there are more, some came late meanwhile, and nothing is said of it. That holds whoever
 * else refreshes, and takes no lock.
 */
import { type Pool, sql } from "../db.js";
import type { Log } from "../log.js";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** One venue, and whole hours of it. */
export interface Window {
  venue_id: number;
  venue: string;
  from: Date;
  to: Date;
  /** The beginnings of those whose samples are there. */
  hours: Date[];
  /** Whether those are all hours in which anything was measured: its days can be added up from them. */
  whole: boolean;
}

/** Rows that a roll-up lacks, has too many, or has with other values. */
export interface Difference {
  rollup: string;
  rows: number;
  /** The first and the last of their buckets. */
  from: string;
  to: string;
  /** The first of them, as it is kept and as it should be; null where it is missing. */
  example: { kept: object | null; anew: object | null };
}

interface HoursAnew {
  samples: number;
  differences: Difference[];
  /** What the days are added up from: JSON. */
  counts: string;
}

/** The roll-ups that are compared hour by hour, and those that are added up from all hours of a window. */
export const rollupsOfHours = [
  "sample_minute",
  "sample_hour",
  "component_minute",
  "venue_minute",
] as const;
export const rollupsOfDays = [
  "venue_day",
  "latency_day",
  "venue_latency_day",
  "usual_hour",
] as const;

export interface ReconcileMetrics {
  compared: (rollups: readonly string[]) => void;
  differs: (difference: Difference) => void;
}

export interface Reconciler {
  /** Does a small part: one hour of the window in hand, or its days, or chooses the next window. */
  step: (at: Date) => Promise<void>;
}

/**
 * @param random numbers from 0 to 1 that choose the windows
 */
export function makeReconciler(
  pool: Pool,
  log: Log,
  metrics?: ReconcileMetrics,
  random: () => number = Math.random,
): Reconciler {
  let window: Window | undefined;
  let counts: string[] = [];
  return {
    async step(at) {
      if (!window) {
        [window] = await pool.file<Window>("reconcile_window", [at, random()]);
        counts = [];
        return;
      }
      // kept only when they are done: what failed is tried again
      const hour = window.hours[counts.length];
      if (hour) {
        counts.push(await reconcileHour(pool, log, window, hour, metrics));
        return;
      }
      if (window.whole) await reconcileDays(pool, log, window, counts, metrics);
      window = undefined;
    },
  };
}

/** Every part of a window, one after the other. */
export async function reconcile(
  pool: Pool,
  log: Log,
  window: Window,
  metrics?: ReconcileMetrics,
): Promise<void> {
  const counts = [];
  for (const hour of window.hours)
    counts.push(await reconcileHour(pool, log, window, hour, metrics));
  if (window.whole) await reconcileDays(pool, log, window, counts, metrics);
}

/** @returns what its day is added up from */
async function reconcileHour(
  pool: Pool,
  log: Log,
  window: Window,
  from: Date,
  metrics?: ReconcileMetrics,
): Promise<string> {
  const to = new Date(+from + hourMs);
  const first = await hourAnew(pool, window, from, to);
  if (first.differences.length === 0) {
    metrics?.compared(rollupsOfHours);
    return first.counts;
  }
  await pool.query(sql`call upkeep.refresh_all(${from}, ${to})`);
  const refreshed = await hourAnew(pool, window, from, to);
  const unchanged =
    refreshed.samples === first.samples && (await backed(pool, from, to));
  // what came meanwhile is looked at when this window is chosen again
  if (!unchanged) return refreshed.counts;
  metrics?.compared(rollupsOfHours);
  if (refreshed.differences.length === 0) return refreshed.counts;

  await mend(pool, log, window, refreshed.differences, metrics);
  const mended = await hourAnew(pool, window, from, to);
  if (mended.samples === first.samples)
    expectMended(window, mended.differences);
  return mended.counts;
}

async function reconcileDays(
  pool: Pool,
  log: Log,
  window: Window,
  counts: string[],
  metrics?: ReconcileMetrics,
): Promise<void> {
  const { from, to } = window;
  if ((await daysAnew(pool, window, counts)).length === 0) {
    metrics?.compared(rollupsOfDays);
    return;
  }
  const before = await samplesIn(pool, window);
  await pool.query(sql`call upkeep.refresh_all(${from}, ${to})`);
  const again = [];
  for (const hour of window.hours)
    again.push(await reconcileHour(pool, log, window, hour, metrics));
  const differences = await daysAnew(pool, window, again);
  const after = await samplesIn(pool, window);
  const unchanged =
    before === after &&
    (await Promise.all(
      window.hours.map((hour) => backed(pool, hour, new Date(+hour + hourMs))),
    ).then((there) => there.every(Boolean)));
  if (!unchanged) return;
  metrics?.compared(rollupsOfDays);
  if (differences.length === 0) return;

  await mend(pool, log, window, differences, metrics);
  const left = await daysAnew(pool, window, again);
  if ((await samplesIn(pool, window)) === before) expectMended(window, left);
}

async function hourAnew(
  pool: Pool,
  { venue_id }: Window,
  from: Date,
  to: Date,
): Promise<HoursAnew> {
  const [row] = await pool.file<HoursAnew>("reconcile_hours", [
    venue_id,
    from,
    to,
  ]);
  return row!;
}

async function daysAnew(
  pool: Pool,
  { venue_id, from, to }: Window,
  counts: string[],
): Promise<Difference[]> {
  const [row] = await pool.file<{ differences: Difference[] }>(
    "reconcile_days",
    [venue_id, from, to, counts],
  );
  return row!.differences;
}

/** Hour by hour: the embedded database serves others between them. */
async function samplesIn(pool: Pool, window: Window): Promise<number> {
  let samples = 0;
  for (const from of window.hours) {
    const [row] = await pool.query<{ samples: number }>(sql`
      select count(*)::int as samples
      from sample
      where ts >= ${from} and ts < ${new Date(+from + hourMs)}
        and component_id = any (array(select component_id from component where venue_id = ${window.venue_id}))
    `);
    samples += row!.samples;
  }
  return samples;
}

async function backed(pool: Pool, from: Date, to: Date): Promise<boolean> {
  const [row] = await pool.query<{ backed: boolean }>(sql`
    select upkeep.backed('sample_minute', ${from}, ${to}) @> tstzrange(${from}, ${to}) as backed
  `);
  return row!.backed;
}

async function mend(
  pool: Pool,
  log: Log,
  { venue }: Window,
  differences: Difference[],
  metrics?: ReconcileMetrics,
): Promise<void> {
  for (const difference of differences) {
    metrics?.differs(difference);
    log.error("a roll-up differs from its samples, and is made anew", {
      venue,
      ...difference,
    });
  }
  const from = Math.min(...differences.map((one) => Date.parse(one.from)));
  const to = Math.max(...differences.map((one) => Date.parse(one.to)));
  const damaged = differences.map(({ rollup }) => rollup);
  // level by level: the embedded database serves others between them
  const levels = await pool.query<{ rollup: string }>(
    sql`select upkeep.to_mend(${damaged}) as rollup`,
  );
  for (const { rollup } of levels)
    await pool.query(
      sql`call upkeep.mend(${rollup}, ${new Date(from)}, ${new Date(to + minuteMs)})`,
    );
}

function expectMended({ venue }: Window, differences: Difference[]): void {
  const [left] = differences;
  if (left)
    throw new Error(
      `${left.rows} rows of ${left.rollup} of ${venue} from ${left.from} to ${left.to} still differ from their samples after they were made anew`,
    );
}
