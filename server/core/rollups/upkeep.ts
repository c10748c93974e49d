import { countsAsAway } from "../../../shared/database/fault.js";
import { type Pool, sql } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { stackOf } from "../../../shared/process/user-error.js";
import type { EngineMetrics } from "../metrics.js";
import { reconcile, type ReconcileMetrics, type Span, spansToReconcile, underWayElsewhere } from "./reconcile.js";

const minuteMs = 60_000;

/** Interval of each part of upkeep, in milliseconds. */
export interface UpkeepPace {
  newestMs: number;
  openBucketsMs: number;
  lateMs: number;
  compressMs: number;
  retainMs: number;
}

export const usualUpkeepPace: UpkeepPace = {
  // A minute is published when it is four minutes old (sql/board/010-clock.sql), so it is refreshed three times in the
  // last minute before that. Refreshing every 4 s would publish nothing sooner, and take an eighth of the embedded
  // database's time.
  newestMs: 20_000,
  openBucketsMs: minuteMs,
  lateMs: 10 * minuteMs,
  compressMs: 10 * minuteMs,
  retainMs: 60 * minuteMs,
};

/** Delay before the next chunk is compressed: compressing one blocks the embedded database for a second. */
const nextPieceMs = minuteMs;

/** Retry delay while another core or an operator is doing the same. */
const retryMs = 2_000;
/** Dropping is not urgent, and what blocks it may take minutes. */
const retryDroppingMs = minuteMs;

export interface Upkeep {
  /**
   * Runs the chores that are due, one after another. At first, nearly all are.
   *
   * @param stillLeads checked before each chore
   * @returns milliseconds until the next chore is due
   */
  doWhatIsDue: (stillLeads: () => boolean) => Promise<number>;
}

/** The two clocks of upkeep: the database's time, and the monotonic time of this process. */
export interface UpkeepClock {
  now: () => Promise<Date>;
  passedMs: () => number;
}

interface Chore {
  name: string;
  everyMs: number;
  /** Delay after a start; by default none. */
  firstAfterMs?: number;
  /** Retry delay while blocked by work elsewhere. */
  retryMs?: number;
  /**
   * Resolves with `in part` when more is due at once, after the other chores, and with `more later` when more is due in
   * a minute.
   */
  run: (at: Date) => Promise<"in part" | "more later" | void>;
}

/** The chore must wait for another one; this is not a failure. */
class NotYet extends Error {}

/** Chores fail independently; a failed one is retried when it is due again. */
export function makeUpkeep(
  pool: Pool,
  log: Log,
  pace: UpkeepPace,
  metrics?: EngineMetrics,
  clock: UpkeepClock = clockOf(pool),
): Upkeep {
  const due = chores(pool, log, pace, metrics).map((chore) => ({
    chore,
    atMs: clock.passedMs() + (chore.firstAfterMs ?? 0),
  }));
  /** Chores whose waiting was logged: a refresh elsewhere may take minutes, and is checked every two seconds. */
  const waiting = new Set<Chore>();
  metrics?.choresBegin(due.map(({ chore }) => chore));

  async function doChore(chore: Chore): Promise<number> {
    const startedMs = performance.now();
    const record = (failed: boolean) => metrics?.choreDone(chore.name, failed, performance.now() - startedMs);
    try {
      const done = await chore.run(await clock.now());
      record(false);
      waiting.delete(chore);
      if (done === "in part") return 0;
      if (done === "more later") return Math.min(nextPieceMs, chore.everyMs);
    } catch (error) {
      if (error instanceof NotYet || underWayElsewhere(error)) {
        if (!waiting.has(chore)) log.info(`${chore.name} is waiting for another core, operator, migration or demo`);
        waiting.add(chore);
        return chore.retryMs ?? retryMs;
      }
      record(true);
      if (!countsAsAway(log, "chores of upkeep", error))
        log.error(`${chore.name} failed; retrying when it is due again`, {
          stack: stackOf(error),
        });
    }
    return chore.everyMs;
  }

  return {
    async doWhatIsDue(stillLeads) {
      for (const one of due) {
        const startedMs = clock.passedMs();
        if (startedMs >= one.atMs && stillLeads()) one.atMs = startedMs + (await doChore(one.chore));
      }
      const nextAtMs = Math.min(...due.map(({ atMs }) => atMs));
      return Math.max(0, nextAtMs - clock.passedMs());
    },
  };
}

/**
 * Work that is not done at every tick, in the order that sql/rollups/010-retention-periods.sql explains. Nothing is
 * dropped until late samples are rolled up, nor while rolling them up fails.
 */
function chores(pool: Pool, log: Log, pace: UpkeepPace, metrics?: EngineMetrics): Chore[] {
  let late: "rolled up" | "waits" | "failed" = "waits";
  /** When the current hour was last recomputed; null since the start. */
  let currentHourAt: Date | null = null;
  /** Spans that expire together and are still to be compared with their roll-ups; null: none were chosen. */
  let expiring: { at: Date; spans: Span[] } | null = null;

  async function rollUpOpenBuckets(at: Date): Promise<void> {
    const [row] = await pool.query<{ due: boolean }>(
      sql`select upkeep.current_hour_is_due(${at}, ${currentHourAt}) as due`,
    );
    await pool.query(sql`call upkeep.refresh_open_buckets(${at}, ${row!.due})`);
    if (row!.due) currentHourAt = at;
  }

  async function rollUpLate(at: Date): Promise<void> {
    try {
      await refreshLate(pool, at);
      late = "rolled up";
    } catch (error) {
      late = error instanceof NotYet || underWayElsewhere(error) ? "waits" : "failed";
      throw error;
    }
  }

  /** Compares samples with their roll-ups before it drops them: one hour or day of a venue at a time. */
  async function dropOld(at: Date): Promise<"in part" | void> {
    const reason = "old chunks cannot be dropped until late samples are rolled up";
    if (late === "waits") throw new NotYet(reason);
    if (late === "failed") throw new Error(reason);
    expiring ??= { at, spans: await spansToReconcile(pool, at, { expiring: true }) };
    const [span] = expiring.spans;
    if (span) {
      await compare(span, expiring.spans);
      return "in part";
    }
    await retainHistory(pool, log, expiring.at);
    expiring = null;
  }

  /** A span that cannot be compared is left out, because a full disk is worse. */
  async function compare(span: Span, spans: Span[]): Promise<void> {
    try {
      await reconcile(pool, log, span, metrics ?? noMetrics);
    } catch (error) {
      if (!underWayElsewhere(error)) spans.shift();
      throw error;
    }
    spans.shift();
  }

  return [
    {
      name: "leaving out impaired regions",
      everyMs: pace.newestMs,
      run: () => inPart(pool.query(sql`call upkeep.exclude_next()`)),
    },
    {
      name: "rolling up the newest minutes",
      everyMs: pace.newestMs,
      run: async (at) => {
        await pool.query(sql`call upkeep.refresh_newest(${at})`);
      },
    },
    {
      name: "rolling up the hour and the day that run",
      everyMs: pace.openBucketsMs,
      run: rollUpOpenBuckets,
    },
    {
      name: "keeping the hours of a week",
      everyMs: pace.openBucketsMs,
      run: (at) => keepNextHour(pool, at),
    },
    {
      name: "rolling up late samples",
      everyMs: pace.lateMs,
      // it may block the embedded database for seconds while a new leader catches up on missed instants
      firstAfterMs: pace.openBucketsMs,
      run: rollUpLate,
    },
    {
      name: "adding up deposits and withdrawals",
      everyMs: pace.lateMs,
      run: async (at) => {
        await pool.query(sql`call upkeep.refresh_transfers(${at})`);
      },
    },
    {
      name: "making the next chunk",
      everyMs: pace.compressMs,
      run: async (at) => {
        await pool.query(sql`call upkeep.make_next_chunk(${at})`);
      },
    },
    {
      name: "compressing",
      everyMs: pace.compressMs,
      run: (at) => compressNext(pool, log, at),
    },
    {
      name: "dropping old chunks",
      everyMs: pace.retainMs,
      // after late samples were rolled up
      firstAfterMs: pace.openBucketsMs,
      retryMs: retryDroppingMs,
      run: dropOld,
    },
    { name: "analyzing what has grown", everyMs: pace.newestMs, run: () => analyzeGrown(pool) },
    { name: "vacuuming", everyMs: pace.retainMs, run: () => vacuumUpdated(pool) },
    {
      name: "vacuuming what is rewritten",
      everyMs: pace.lateMs,
      run: () => vacuumRewritten(pool),
    },
  ];
}

const noMetrics: ReconcileMetrics = { compared() {}, differs() {} };

/** As `upkeep.refresh_late`, with a call for each level. */
async function refreshLate(pool: Pool, at: Date): Promise<void> {
  const [past] = await pool.query<{ from: Date; isWritten: boolean }>(sql`
    select ${at}::timestamptz - upkeep.late_window() as from, upkeep.past_is_written() as "isWritten"
  `);
  if (past!.isWritten) throw new NotYet("the past is being written, and rolled up with it");
  await refreshByLevel(pool, past!.from, at);
}

/** As `upkeep.refresh_all`, with a call for each level: the embedded database serves nobody else during a call. */
export async function refreshByLevel(pool: Pool, from: Date, to: Date): Promise<void> {
  for (let level: number | null = 1; level !== null;) {
    const [next]: { level: number | null }[] = await pool.query(
      sql`call upkeep.refresh_level(${level}, ${from}, ${to})`,
    );
    level = next!.level;
  }
}

/** One hour at a time: after an absence of core a whole week is read, and other chores run in between. */
async function keepNextHour(pool: Pool, at: Date): Promise<"in part" | void> {
  const [hour] = await pool.query<{ from_at: Date; kept_at: Date }>(
    sql`select from_at, kept_at from upkeep.hour_to_keep(${at})`,
  );
  if (!hour) return;
  await pool.query(sql`call upkeep.refresh_over_hours(${hour.from_at}, ${hour.kept_at})`);
  return "in part";
}

/** @param piece a call of a procedure that does one piece and reports whether there is more */
async function inPart(piece: Promise<{ more: boolean }[]>): Promise<"in part" | void> {
  const [row] = await piece;
  if (row!.more) return "in part";
}

/** Finding that nothing is due takes the embedded database 200 ms: its catalogue has some four hundred chunks. */
async function compressNext(pool: Pool, log: Log, at: Date): Promise<"more later" | void> {
  const [row] = await pool.query<{ chunk: string | null }>(sql`select upkeep.compress_next(${at}) as chunk`);
  if (!row?.chunk) return;
  log.debug("compressed", { chunk: row.chunk });
  return "more later";
}

async function retainHistory(pool: Pool, log: Log, at: Date): Promise<void> {
  const [row] = await pool.query<{ dropped: number }>(sql`call upkeep.retain(${at})`);
  if (row?.dropped) log.info("dropped old chunks", { chunks: row.dropped });
}

/** Tables whose rows ticks, probes and deliveries update. */
const updatedTables = [
  ...["region_state", "component_state", "probe", "engine_clock", "leader"],
  ...["typical_latency", "typical_week", "open_hour", "shown_probe"],
  ...["feed", "feed_poll", "notice"],
  ...["transfer_source", "transfer_state", "transfer_past"],
  ...["alert_event", "channel", "delivery", "delivery_attempt"],
];

/**
 * The embedded database has no autovacuum: without statistics, plans are bad (the board is four times slower), and the
 * tables that every tick updates grow. On a server this costs next to nothing.
 *
 * Analyze before vacuum. A vacuum writes a table's size into the catalogue, but the embedded backend keeps its cached
 * size, and an analyze that finds the same size in the catalogue does not invalidate it: small tables then count as ten
 * pages until the directory is reopened, and the board takes half as long again.
 */
async function vacuumUpdated(pool: Pool): Promise<void> {
  await pool.script(`analyze ${updatedTables.join(", ")}`);
  for (const table of updatedTables) await pool.script(`vacuum ${table}`);
  await pool.script("analyze");
}

/** Keeps the planner's statistics of the embedded database current while its tables grow. */
export async function analyzeGrown(pool: Pool): Promise<void> {
  const tables = await pool.query<{ name: string }>(sql`select upkeep.grown() as name`);
  for (const { name } of tables) await pool.script(`analyze ${name}`);
}

/**
 * One table at a time, so that others run in between. No analyze: these tables have ten pages or more, and their row
 * counts are estimated well.
 */
async function vacuumRewritten(pool: Pool): Promise<void> {
  const tables = await pool.query<{ name: string }>(sql`select upkeep.rewritten() as name`);
  for (const { name } of tables) await pool.script(`vacuum ${name}`);
}

function clockOf(pool: Pool): UpkeepClock {
  return {
    async now() {
      const [row] = await pool.query<{ now: Date }>(sql`select clock_timestamp() as now`);
      return row!.now;
    },
    passedMs: () => performance.now(),
  };
}
