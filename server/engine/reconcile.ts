/**
 * Recomputes windows of the roll-ups from the samples, and repairs differences. A difference is a bug of ours or of
 * TimescaleDB's that nothing else would detect.
 *
 * Samples are only ever added. If their count at the end equals the count before a refresh, the refresh saw all of
 * them, and a roll-up that differs is wrong. If the count grew, late samples arrived meanwhile, and nothing is
 * concluded. This holds whatever else refreshes, and takes no lock.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Pool, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { underWayElsewhere } from "./under-way.js";

/** Retry delay: a concurrent refresh of the same roll-up ends soon. */
const retryMs = 1_000;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Whole hours of one venue. */
export interface ReconciledWindow {
  venue_id: number;
  venue: string;
  from: Date;
  to: Date;
  /** Starts of the hours whose samples are still kept. */
  hours: Date[];
  /** Buckets that can be computed from these hours. */
  sums: Sum[];
}

/** A bucket of roll-ups that is the sum of its hours. */
export interface Sum {
  rollups: string[];
  from: string;
}

/** Rows of a roll-up that are missing, surplus or wrong. */
export interface RollupDifference {
  rollup: string;
  rows: number;
  /** The first bucket of these rows; `to` is the last. */
  from: string;
  to: string;
  /** The first of these rows, as kept and as recomputed; null where it is missing. */
  example: { kept: object | null; recomputed: object | null };
}

interface RecomputedHours {
  samples: number;
  /** Samples that the roll-ups counted and that no longer exist. */
  lost: number;
  differences: RollupDifference[];
  counts: Count[];
}

interface Count {
  rollup: string;
  /** Start of the bucket, in seconds. */
  bucket: number;
  key: string;
  counts: number[];
}

/** Roll-ups that are compared hour by hour. `rollupsOfDays` are summed from all hours of a window. */
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

/** Everything that can differ: roll-ups, and the samples where they are lost. */
export const reconciled = ["sample", ...rollupsOfHours, ...rollupsOfDays];

export interface ReconcileMetrics {
  compared: (rollups: readonly string[]) => void;
  differs: (difference: RollupDifference) => void;
}

export interface Reconciler {
  /** Does a small part: one hour of the current window, or one sum of its hours, or chooses the next window. */
  step: (at: Date) => Promise<void>;
}

/** A small part of the work; returns the parts to do next, before the planned ones. */
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
        // retried once; then another window is chosen
        if (!underWayElsewhere(error) && ++failures === 2) planned = [];
        throw error;
      }
    },
  };
}

/** Does every part of a window in order. A part that conflicts with a concurrent refresh is retried alone. */
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

/** One pass over a window. */
interface Look extends Means {
  window: ReconciledWindow;
  /** Differences already reported: a retried part must not report them twice. */
  reported: Set<string>;
  /** Samples are lost, so sums are skipped. */
  lost: boolean;
}

/** Sums over the hours of a window, each hour counted once. */
interface Added {
  samples: number;
  /**
   * Whether the roll-ups of every hour included all its samples: those that arrived during a comparison are not in the
   * days.
   */
  settled: boolean;
  /** By roll-up and bucket, then by key. */
  sums: Map<string, Map<string, number[]>>;
}

function partsOf(means: Means, window: ReconciledWindow): Part[] {
  const look: Look = { ...means, window, reported: new Set(), lost: false };
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

/** @returns what its days are summed from; null where samples are lost */
async function reconcileHour(look: Look, from: Date, rollups: string[]): Promise<RecomputedHours | null> {
  const { pool, window, metrics } = look;
  const to = new Date(+from + hourMs);
  const first = await recomputeHour(pool, window, from, to, rollups);
  if (first.lost > 0) {
    // unless retention has dropped them since the window was chosen
    if (await backed(pool, [from])) reportLost(look, from, to, first.lost);
    return null;
  }
  if (first.differences.length === 0) {
    metrics?.compared(rollupsOfHours);
    return first;
  }
  await pool.query(sql`call upkeep.refresh_all(${from}, ${to})`);
  const refreshed = await recomputeHour(pool, window, from, to, rollups);
  const unchanged = refreshed.samples === first.samples && (await backed(pool, [from]));
  // late samples are compared when this window is chosen again
  if (!unchanged) return refreshed;
  metrics?.compared(rollupsOfHours);
  if (refreshed.differences.length === 0) return refreshed;

  await mend(look, refreshed.differences);
  const mended = await recomputeHour(pool, window, from, to, rollups);
  if (mended.samples === first.samples) expectMended(window, mended.differences);
  return mended;
}

/** A sum that differs is recomputed, starting with its hours. */
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

/** @param added sums of its hours, taken when the hours' roll-ups were right */
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

/** Hour by hour, so that the embedded database serves others in between. */
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

/** Whether all hours still have their samples. One query for all, since the catalogue is slow. */
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

function reportLost(look: Look, from: Date, to: Date, rows: number): void {
  const lost: RollupDifference = {
    rollup: "sample",
    rows,
    from: from.toISOString(),
    to: to.toISOString(),
    example: { kept: null, recomputed: null },
  };
  if (isNew(look, lost))
    look.log.error("raw samples are missing that roll-ups counted; the roll-ups are left unchanged", {
      venue: look.window.venue,
      samples: rows,
      from,
      to,
    });
}

/** Counts a difference once per window. */
function isNew({ reported, metrics }: Look, difference: RollupDifference): boolean {
  const name = `${difference.rollup} ${difference.from}`;
  if (reported.has(name)) return false;
  reported.add(name);
  metrics?.differs(difference);
  return true;
}

async function mend(look: Look, differences: RollupDifference[]): Promise<void> {
  const { pool, log, window } = look;
  for (const difference of differences)
    if (isNew(look, difference))
      log.error("a roll-up differs from its samples; repairing it", {
        venue: window.venue,
        ...difference,
      });
  const from = Math.min(...differences.map((one) => Date.parse(one.from)));
  const to = Math.max(...differences.map((one) => Date.parse(one.to)));
  const damaged = differences.map(({ rollup }) => rollup);
  // level by level, so that the embedded database serves others in between
  const levels = await pool.query<{ rollup: string }>(sql`select upkeep.to_mend(${damaged}) as rollup`);
  for (const { rollup } of levels)
    await pool.query(sql`call upkeep.mend(${rollup}, ${new Date(from)}, ${new Date(to + minuteMs)})`);
}

function expectMended({ venue }: ReconciledWindow, differences: RollupDifference[]): void {
  const [left] = differences;
  if (left)
    throw new Error(
      `${left.rows} rows of ${left.rollup} of ${venue} from ${left.from} to ${left.to} still differ from their samples after the repair`,
    );
}
