/**
 * Recomputes windows of the roll-ups from the samples, and mends what differs. What makes a difference is a fault of
 * ours or of TimescaleDB's, and nobody else would notice it.
 *
 * Samples are only ever added. So where there are as many at the end as there were before a refresh, that refresh saw
 * all of them, and what the roll-ups say otherwise is wrong; where there are more, some came late meanwhile, and
 * nothing is said of it. That holds whatever else refreshes, and takes no lock.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Pool, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { underWayElsewhere } from "./under-way.js";

/** Another refreshes the same, and is done soon. */
const retryMs = 1_000;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** One venue, and whole hours of it. */
export interface ReconciledWindow {
  venue_id: number;
  venue: string;
  from: Date;
  to: Date;
  /** The beginnings of those whose samples are there. */
  hours: Date[];
  /** What can be added up from them. */
  sums: Sum[];
}

/** A bucket of roll-ups that is the sum of its hours. */
export interface Sum {
  rollups: string[];
  from: string;
}

/** Rows that a roll-up lacks, has too many, or has with other values. */
export interface RollupDifference {
  rollup: string;
  rows: number;
  /** The first and the last of their buckets. */
  from: string;
  to: string;
  /** The first of them, as it is kept and as it should be; null where it is missing. */
  example: { kept: object | null; recomputed: object | null };
}

interface RecomputedHours {
  samples: number;
  /** Samples that the roll-ups have seen and that are not there any more. */
  lost: number;
  differences: RollupDifference[];
  counts: Count[];
}

interface Count {
  rollup: string;
  /** Its beginning, in seconds. */
  bucket: number;
  key: string;
  counts: number[];
}

/** The roll-ups that are compared hour by hour, and those that are added up from all hours of a window. */
export const rollupsOfHours = [
  "sample_minute",
  "sample_hour",
  "rest_hour",
  "stream_hour",
  "latency_hour",
  "component_minute",
  "venue_minute",
  "component_hour",
  "venue_hour",
] as const;
export const rollupsOfDays = ["component_day", "venue_day", "latency_day", "venue_latency_day", "usual_hour"] as const;

/** What may differ, those and the samples themselves, where they are lost. */
export const reconciled = ["sample", ...rollupsOfHours, ...rollupsOfDays];

export interface ReconcileMetrics {
  compared: (rollups: readonly string[]) => void;
  differs: (difference: RollupDifference) => void;
}

export interface Reconciler {
  /** Does a small part: one hour of the window in hand, or one sum of its hours, or chooses the next window. */
  step: (at: Date) => Promise<void>;
}

/** A small part of the work; returns what is to be done next, before what was planned. */
type Part = () => Promise<Part[]>;

/**
 * @param random numbers from 0 to 1 that choose the windows
 */
export function makeReconciler(
  pool: Pool,
  log: Log,
  metrics?: ReconcileMetrics,
  random: () => number = Math.random,
): Reconciler {
  let planned: Part[] = [];
  let failures = 0;
  return {
    async step(at) {
      const [part, ...rest] = planned;
      if (!part) {
        const [window] = await pool.file<ReconciledWindow>("reconcile_window", [at, random()]);
        failures = 0;
        if (window) planned = partsOf({ pool, log, metrics }, window);
        return;
      }
      try {
        planned = [...(await part()), ...rest];
      } catch (error) {
        // tried once more; then the others have their turn
        if (!underWayElsewhere(error) && ++failures === 2) planned = [];
        throw error;
      }
    },
  };
}

/**
 * Every part of a window, one after the other. One that is refused since another refreshes the same is done again, and
 * no other.
 */
export async function reconcile(
  pool: Pool,
  log: Log,
  window: ReconciledWindow,
  metrics?: ReconcileMetrics,
): Promise<void> {
  let planned = partsOf({ pool, log, metrics }, window);
  for (let part; (part = planned.shift());) planned = [...(await untilAlone(part)), ...planned];
}

async function untilAlone(part: Part): Promise<Part[]> {
  for (;;)
    try {
      return await part();
    } catch (error) {
      if (!underWayElsewhere(error)) throw error;
      await sleep(retryMs);
    }
}

interface Means {
  pool: Pool;
  log: Log;
  metrics: ReconcileMetrics | undefined;
}

/** One going over a window. */
interface Look extends Means {
  window: ReconciledWindow;
  /** What was told: a difference that is met again when a part is tried again is not another one. */
  told: Set<string>;
  /** Where samples are lost, nothing is added up. */
  lost: boolean;
}

/** What is added up of the hours of a window, each counted once. */
interface Added {
  samples: number;
  /**
   * Whether the roll-ups of every hour held all of them: what came while an hour was looked at is not in what days are
   * made of.
   */
  settled: boolean;
  /** By roll-up and bucket, then by key. */
  sums: Map<string, Map<string, number[]>>;
}

function partsOf(means: Means, window: ReconciledWindow): Part[] {
  const look: Look = { ...means, window, told: new Set(), lost: false };
  const added = nothingAdded();
  const rollups = window.sums.flatMap((sum) => sum.rollups);
  return [
    ...window.hours.map((hour) => hourPart(look, hour, rollups, added)),
    ...window.sums.map((sum) => sumPart(look, sum, added)),
  ];
}

function hourPart(look: Look, hour: Date, rollups: string[], added: Added): Part {
  return async () => {
    const recomputed = await reconcileHour(look, hour, rollups);
    if (!recomputed) look.lost = true;
    else add(added, recomputed);
    return [];
  };
}

function nothingAdded(): Added {
  return { samples: 0, settled: true, sums: new Map() };
}

function add(added: Added, { samples, differences, counts }: RecomputedHours): void {
  added.samples += samples;
  if (differences.length > 0) added.settled = false;
  for (const one of counts) {
    const place = placeOf(one.rollup, one.bucket);
    const keys = added.sums.get(place) ?? new Map<string, number[]>();
    added.sums.set(place, keys);
    const before = keys.get(one.key);
    keys.set(
      one.key,
      one.counts.map((count, i) => count + (before?.[i] ?? 0)),
    );
  }
}

function placeOf(rollup: string, bucket: number): string {
  return `${rollup} ${bucket}`;
}

/** @returns what its days are added up from; null where samples are lost */
async function reconcileHour(look: Look, from: Date, rollups: string[]): Promise<RecomputedHours | null> {
  const { pool, window, metrics } = look;
  const to = new Date(+from + hourMs);
  const first = await recomputeHour(pool, window, from, to, rollups);
  if (first.lost > 0) {
    // they may also have been dropped since the window was chosen, as is usual
    if (await backed(pool, [from])) tellLost(look, from, to, first.lost);
    return null;
  }
  if (first.differences.length === 0) {
    metrics?.compared(rollupsOfHours);
    return first;
  }
  await pool.query(sql`call upkeep.refresh_all(${from}, ${to})`);
  const refreshed = await recomputeHour(pool, window, from, to, rollups);
  const unchanged = refreshed.samples === first.samples && (await backed(pool, [from]));
  // what came meanwhile is looked at when this window is chosen again
  if (!unchanged) return refreshed;
  metrics?.compared(rollupsOfHours);
  if (refreshed.differences.length === 0) return refreshed;

  await mend(look, refreshed.differences);
  const mended = await recomputeHour(pool, window, from, to, rollups);
  if (mended.samples === first.samples) expectMended(window, mended.differences);
  return mended;
}

/** What differs is looked at again, from its hours on. */
function sumPart(look: Look, sum: Sum, added: Added): Part {
  return async () => {
    if (look.lost) return [];
    if ((await recomputeSum(look, sum, added)).length === 0) {
      look.metrics?.compared(sum.rollups);
      return [];
    }
    const again = nothingAdded();
    return [
      ...hoursOf(look.window, sum).map((hour) => hourPart(look, hour, sum.rollups, again)),
      async () => {
        if (!look.lost) await reconcileSum(look, sum, again);
        return [];
      },
    ];
  };
}

/** @param added of its hours, whose own roll-ups were right then */
async function reconcileSum(look: Look, sum: Sum, added: Added): Promise<void> {
  const { pool, window, metrics } = look;
  const hours = hoursOf(window, sum);
  const from = new Date(sum.from);
  const to = new Date(+from + widthMs(sum));
  await pool.query(sql`call upkeep.refresh_days(${from}, ${to})`);
  const differences = await recomputeSum(look, sum, added);
  const unchanged =
    added.settled && (await samplesIn(pool, window, hours)) === added.samples && (await backed(pool, hours));
  if (!unchanged) return;
  metrics?.compared(sum.rollups);
  if (differences.length === 0) return;

  await mend(look, differences);
  const left = await recomputeSum(look, sum, added);
  if ((await samplesIn(pool, window, hours)) === added.samples) expectMended(window, left);
}

function hoursOf({ hours }: ReconciledWindow, sum: Sum): Date[] {
  const fromMs = Date.parse(sum.from);
  return hours.filter((hour) => +hour >= fromMs && +hour < fromMs + widthMs(sum));
}

function widthMs({ rollups }: Sum): number {
  return (rollups.includes("usual_hour") ? 5 : 1) * 24 * hourMs;
}

async function recomputeHour(
  pool: Pool,
  { venue_id }: ReconciledWindow,
  from: Date,
  to: Date,
  rollups: string[],
): Promise<RecomputedHours> {
  const [row] = await pool.file<RecomputedHours>("reconcile_hours", [venue_id, from, to, rollups]);
  return row!;
}

async function recomputeSum(
  { pool, window }: Look,
  { rollups, from }: Sum,
  { sums }: Added,
): Promise<RollupDifference[]> {
  const own = rollups.map((rollup) => [
    rollup,
    Object.fromEntries(sums.get(placeOf(rollup, Date.parse(from) / 1000)) ?? []),
  ]);
  const [row] = await pool.file<{ differences: RollupDifference[] }>("reconcile_days", [
    window.venue_id,
    from,
    rollups,
    JSON.stringify(Object.fromEntries(own)),
  ]);
  return row!.differences;
}

/** Hour by hour: the embedded database serves others between them. */
async function samplesIn(pool: Pool, { venue_id }: ReconciledWindow, hours: Date[]): Promise<number> {
  let samples = 0;
  for (const from of hours) {
    const [row] = await pool.query<{ samples: number }>(sql`
      select count(*)::int as samples
      from sample
      where ts >= ${from} and ts < ${new Date(+from + hourMs)}
        and component_id = any (array(select component_id from component where venue_id = ${venue_id}))
    `);
    samples += row!.samples;
  }
  return samples;
}

/** All of them, asked for at once: the catalogue is slow. */
async function backed(pool: Pool, hours: Date[]): Promise<boolean> {
  const [row] = await pool.query<{ backed: boolean }>(sql`
    with there as materialized (
      select upkeep.backed('sample_minute', min(hour), max(hour) + interval '1 hour') as hours from unnest(${hours}::timestamptz[]) as hour
    )
    select bool_and(there.hours @> tstzrange(hour, hour + interval '1 hour')) as backed
    from unnest(${hours}::timestamptz[]) as hour
    cross join there
  `);
  return row!.backed;
}

function tellLost(look: Look, from: Date, to: Date, rows: number): void {
  const lost: RollupDifference = {
    rollup: "sample",
    rows,
    from: from.toISOString(),
    to: to.toISOString(),
    example: { kept: null, recomputed: null },
  };
  if (isNew(look, lost))
    look.log.error("raw samples are missing that roll-ups have seen; the roll-ups are left as they are", {
      venue: look.window.venue,
      samples: rows,
      from,
      to,
    });
}

/** Counts it, once in a window. */
function isNew({ told, metrics }: Look, difference: RollupDifference): boolean {
  const name = `${difference.rollup} ${difference.from}`;
  if (told.has(name)) return false;
  told.add(name);
  metrics?.differs(difference);
  return true;
}

async function mend(look: Look, differences: RollupDifference[]): Promise<void> {
  const { pool, log, window } = look;
  for (const difference of differences)
    if (isNew(look, difference))
      log.error("a roll-up differs from its samples, and is made again", {
        venue: window.venue,
        ...difference,
      });
  const from = Math.min(...differences.map((one) => Date.parse(one.from)));
  const to = Math.max(...differences.map((one) => Date.parse(one.to)));
  const damaged = differences.map(({ rollup }) => rollup);
  // level by level: the embedded database serves others between them
  const levels = await pool.query<{ rollup: string }>(sql`select upkeep.to_mend(${damaged}) as rollup`);
  for (const { rollup } of levels)
    await pool.query(sql`call upkeep.mend(${rollup}, ${new Date(from)}, ${new Date(to + minuteMs)})`);
}

function expectMended({ venue }: ReconciledWindow, differences: RollupDifference[]): void {
  const [left] = differences;
  if (left)
    throw new Error(
      `${left.rows} rows of ${left.rollup} of ${venue} from ${left.from} to ${left.to} still differ from their samples after they were made again`,
    );
}
