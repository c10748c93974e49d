/**
 * Recomputes roll-ups from the samples, and repairs differences. A difference is a bug of ours or of TimescaleDB's that
 * nothing else would detect.
 *
 * Samples are only ever added. If their count at the end equals the count before a refresh, the refresh saw all of
 * them, and a roll-up that differs is wrong. If the count grew, late samples arrived meanwhile, and nothing is
 * concluded. This holds whatever else refreshes, and takes no lock.
 */
import { type Pool, sql } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** One hour or one UTC day of one venue. */
export interface Span {
  venue_id: number;
  venue: string;
  level: "hour" | "day";
  from: Date;
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

/** The roll-ups that are compared with an hour, and those that are compared with a day. */
export const rollupsOf = {
  hour: [
    ...["sample_minute", "sample_hour", "rest_hour", "stream_hour", "latency_hour"],
    ...["component_minute", "venue_minute", "component_hour", "venue_hour"],
  ],
  day: ["component_day", "venue_day", "latency_day", "venue_latency_day", "usual_hour"],
};

export interface ReconcileMetrics {
  compared: (rollups: readonly string[]) => void;
  /** Also with `sample` as the roll-up, where samples are lost. */
  differs: (difference: RollupDifference) => void;
}

interface Recomputed {
  samples: number;
  /** Samples that the roll-ups counted and that no longer exist. */
  lost: number;
  differences: RollupDifference[];
}

/** All that can be compared, or only what cannot be compared any longer once expired samples are dropped. */
export function spansToReconcile(pool: Pool, at: Date, { expiring }: { expiring: boolean }): Promise<Span[]> {
  return pool.file<Span>("reconcile_spans", [at, expiring]);
}

/** @throws an error of a refresh that runs elsewhere (`underWayElsewhere`): try again when it has ended */
export async function reconcile(pool: Pool, log: Log, span: Span, metrics: ReconcileMetrics): Promise<void> {
  const first = await recomputeSpan(pool, span);
  if (first.lost > 0) return reportLost(pool, log, span, first.lost, metrics);
  if (first.differences.length === 0) return metrics.compared(rollupsOf[span.level]);

  await refreshSpan(pool, span);
  const refreshed = await recomputeSpan(pool, span);
  if (refreshed.samples !== first.samples) return;
  metrics.compared(rollupsOf[span.level]);
  if (refreshed.differences.length === 0) return;

  for (const difference of refreshed.differences) {
    metrics.differs(difference);
    log.error("a roll-up differs from its samples; repairing it", { venue: span.venue, ...difference });
  }
  await mendDifferences(pool, refreshed.differences);
  const mended = await recomputeSpan(pool, span);
  if (mended.samples === first.samples) expectMended(span, mended.differences);
}

async function recomputeSpan(pool: Pool, { venue_id, level, from }: Span): Promise<Recomputed> {
  const [row] =
    level === "hour"
      ? await pool.file<Recomputed>("reconcile_hour", [venue_id, from, endOf({ level, from })])
      : await pool.file<Recomputed>("reconcile_day", [venue_id, from]);
  return row!;
}

function endOf({ level, from }: Pick<Span, "level" | "from">): Date {
  return new Date(+from + (level === "hour" ? 1 : 24) * hourMs);
}

async function refreshSpan(pool: Pool, span: Span): Promise<void> {
  const { level, from } = span;
  if (level === "hour") await pool.query(sql`call upkeep.refresh_all(${from}, ${endOf(span)})`);
  else {
    await pool.query(sql`call upkeep.refresh_days(${from}, ${endOf(span)})`);
    // refresh_days leaves out the five days that begin with this one
    await pool.query(sql`call upkeep.refresh('usual_hour', null, time_bucket('5 days', now() - upkeep.kept_after()))`);
  }
}

/** Samples that were dropped since the span was chosen are not lost. */
async function reportLost(pool: Pool, log: Log, span: Span, rows: number, metrics: ReconcileMetrics): Promise<void> {
  const { venue, from } = span;
  const to = endOf(span);
  const [row] = await pool.query<{ backed: boolean }>(
    sql`select upkeep.backed('sample_minute', ${from}, ${to}) @> tstzrange(${from}, ${to}) as backed`,
  );
  if (!row!.backed) return;
  const example = { kept: null, recomputed: null };
  metrics.differs({ rollup: "sample", rows, from: from.toISOString(), to: to.toISOString(), example });
  log.error("raw samples are missing that roll-ups counted; the roll-ups are left unchanged", {
    venue,
    samples: rows,
    from,
    to,
  });
}

/** Level by level, so that the embedded database serves others in between. */
async function mendDifferences(pool: Pool, differences: RollupDifference[]): Promise<void> {
  const from = Math.min(...differences.map((one) => Date.parse(one.from)));
  const to = Math.max(...differences.map((one) => Date.parse(one.to)));
  const damaged = differences.map(({ rollup }) => rollup);
  const levels = await pool.query<{ rollup: string }>(sql`select upkeep.to_mend(${damaged}) as rollup`);
  for (const { rollup } of levels)
    await pool.query(sql`call upkeep.mend(${rollup}, ${new Date(from)}, ${new Date(to + minuteMs)})`);
}

function expectMended({ venue }: Span, differences: RollupDifference[]): void {
  const [left] = differences;
  if (left)
    throw new Error(
      `${left.rows} rows of ${left.rollup} of ${venue} from ${left.from} to ${left.to} still differ from their samples after the repair`,
    );
}

/**
 * Recognises an expected conflict: a former leader or an operator is still refreshing (two concurrent refreshes of one
 * roll-up fail, and a chunk that is being read cannot be dropped), or a migration is granting rights on the hypertable
 * whose chunk is being created.
 */
export function underWayElsewhere(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  const lockNotAvailable = "55P03";
  return (
    code === lockNotAvailable ||
    // this error has no specific code
    (code === "XX000" && message === "tuple concurrently updated")
  );
}
