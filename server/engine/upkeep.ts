import { countsAsAway } from "../../shared/database/away.js";
import { type Pool, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { stackOf } from "../../shared/process/user-error.js";
import type { EngineMetrics } from "./metrics.js";
import { makeReconciler } from "./reconcile.js";
import { underWayElsewhere } from "./under-way.js";

const minuteMs = 60_000;

/** How often each part of the upkeep is done, milliseconds. */
export interface UpkeepPace {
  newestMs: number;
  openBucketsMs: number;
  lateMs: number;
  compressMs: number;
  retainMs: number;
  reconcileMs: number;
}

export const usualUpkeepPace: UpkeepPace = {
  // A minute is published when it is four minutes old (sql/views/010-clock.sql), so it is counted three times in its
  // last minute before that. Every four seconds it showed nobody anything sooner, and took the embedded database an
  // eighth of what it does.
  newestMs: 20_000,
  openBucketsMs: minuteMs,
  lateMs: 10 * minuteMs,
  compressMs: 10 * minuteMs,
  retainMs: 60 * minuteMs,
  // An hour of a venue, at a tenth of a second: of fifteen venues each day's turn comes every two days on average, four
  // times before its samples are dropped. Every ten seconds it took the embedded database a tenth of what it does.
  reconcileMs: 40_000,
};

/**
 * Where more is due, but others have their turn first: compressing a chunk keeps the embedded database from everybody
 * for a second.
 */
const nextPieceMs = minuteMs;

/** After this long a chore is tried again that another core or an operator was about. */
const retryMs = 2_000;
/** Dropping need not be done soon, and whatever it waits for may take minutes. */
const retryDroppingMs = minuteMs;

export interface Upkeep {
  /**
   * Does, one after the other, whatever is due; nearly everything is at first.
   *
   * @param goesOn asked before each
   * @returns milliseconds until something is due again
   */
  doWhatIsDue: (goesOn: () => boolean) => Promise<number>;
}

/** What tells upkeep the time: the database, and how much has passed. */
export interface UpkeepClock {
  now: () => Promise<Date>;
  passedMs: () => number;
}

interface Chore {
  name: string;
  everyMs: number;
  /** After a start; at once where it is left out. */
  firstAfterMs?: number;
  /** Where something else is under way. */
  retryMs?: number;
  /**
   * Resolves with `in part` where more is due at once, after the others, and with `more later` where it is due in a
   * minute.
   */
  run: (at: Date) => Promise<"in part" | "more later" | void>;
}

/** Its turn comes when something else is done, and nothing is wrong. */
class NotYet extends Error {}

/** Chores fail one by one: each is tried again when it is due again. */
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
  /** A refresh elsewhere may take minutes, and is looked at every two seconds. */
  const waiting = new Set<Chore>();
  metrics?.choresBegin(due.map(({ chore }) => chore));

  async function doChore(chore: Chore): Promise<number> {
    const begunMs = performance.now();
    const tell = (failed: boolean) => metrics?.choreDone(chore.name, failed, performance.now() - begunMs);
    try {
      const done = await chore.run(await clock.now());
      tell(false);
      waiting.delete(chore);
      if (done === "in part") return 0;
      if (done === "more later") return Math.min(nextPieceMs, chore.everyMs);
    } catch (error) {
      if (error instanceof NotYet || underWayElsewhere(error)) {
        if (!waiting.has(chore)) log.info(`${chore.name} waits for what is under way elsewhere`);
        waiting.add(chore);
        return chore.retryMs ?? retryMs;
      }
      tell(true);
      if (!countsAsAway(log, "chores of upkeep", error))
        log.error(`${chore.name} failed, and is tried again when it is due`, {
          stack: stackOf(error),
        });
    }
    return chore.everyMs;
  }

  return {
    async doWhatIsDue(goesOn) {
      for (const one of due) {
        const begunMs = clock.passedMs();
        if (begunMs >= one.atMs && goesOn()) one.atMs = begunMs + (await doChore(one.chore));
      }
      const nextAtMs = Math.min(...due.map(({ atMs }) => atMs));
      return Math.max(0, nextAtMs - clock.passedMs());
    },
  };
}

/**
 * What need not be done at every tick, in the order that upkeep.sql explains: nothing is dropped before what is late
 * was rolled up, and not while that fails.
 */
function chores(pool: Pool, log: Log, pace: UpkeepPace, metrics?: EngineMetrics): Chore[] {
  let late: "rolled up" | "waits" | "failed" = "waits";
  const reconciler = makeReconciler(pool, log, metrics);

  async function rollUpLate(at: Date): Promise<void> {
    try {
      await pool.query(sql`call upkeep.refresh_late(${at})`);
      late = "rolled up";
    } catch (error) {
      late = underWayElsewhere(error) ? "waits" : "failed";
      throw error;
    }
  }

  async function dropOld(at: Date): Promise<void> {
    const reason = "nothing old is dropped before late samples are rolled up";
    if (late === "waits") throw new NotYet(reason);
    if (late === "failed") throw new Error(reason);
    await retain(pool, log, at);
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
      run: async (at) => {
        await pool.query(sql`call upkeep.refresh_open_buckets(${at})`);
      },
    },
    {
      name: "keeping the hours of a week",
      everyMs: pace.openBucketsMs,
      run: (at) => keepNextHour(pool, at),
    },
    {
      name: "making roll-ups again",
      everyMs: pace.openBucketsMs,
      run: () => inPart(pool.query(sql`call upkeep.remake_next()`)),
    },
    {
      name: "rolling up late samples",
      everyMs: pace.lateMs,
      // it may keep the embedded database for seconds, when a new leader has instants to catch up with
      firstAfterMs: pace.openBucketsMs,
      run: rollUpLate,
    },
    {
      name: "compressing",
      everyMs: pace.compressMs,
      run: (at) => compressNext(pool, log, at),
    },
    {
      name: "dropping old chunks",
      everyMs: pace.retainMs,
      // after what is late was rolled up
      firstAfterMs: pace.openBucketsMs,
      retryMs: retryDroppingMs,
      run: dropOld,
    },
    { name: "vacuuming", everyMs: pace.retainMs, run: () => vacuum(pool) },
    {
      name: "vacuuming what is rewritten",
      everyMs: pace.lateMs,
      run: () => vacuumRewritten(pool),
    },
    {
      name: "reconciling",
      everyMs: pace.reconcileMs,
      run: (at) => reconciler.step(at),
    },
  ];
}

/** An hour at a time: after a migration a week is read, and others have their turn between them. */
async function keepNextHour(pool: Pool, at: Date): Promise<"in part" | void> {
  const [hour] = await pool.query<{ from_at: Date; kept_at: Date }>(
    sql`select from_at, kept_at from upkeep.hour_to_keep(${at})`,
  );
  if (!hour) return;
  await pool.query(sql`call upkeep.refresh_over_hours(${hour.from_at}, ${hour.kept_at})`);
  return "in part";
}

/** @param piece a procedure that does one piece, and tells whether there is more */
async function inPart(piece: Promise<{ more: boolean }[]>): Promise<"in part" | void> {
  const [row] = await piece;
  if (row!.more) return "in part";
}

/** Finding out that nothing is due takes the embedded database 200 ms: its catalogue has some four hundred chunks. */
async function compressNext(pool: Pool, log: Log, at: Date): Promise<"more later" | void> {
  const [row] = await pool.query<{ chunk: string | null }>(sql`select upkeep.compress_next(${at}) as chunk`);
  if (!row?.chunk) return;
  log.debug("compressed", { chunk: row.chunk });
  return "more later";
}

async function retain(pool: Pool, log: Log, at: Date): Promise<void> {
  const [row] = await pool.query<{ dropped: number }>(sql`call upkeep.retain(${at})`);
  if (row?.dropped) log.info("dropped old chunks", { chunks: row.dropped });
}

/** What ticks, probes and deliveries rewrite. */
const rewritten = [
  ...["region_state", "component_state", "probe", "engine_clock", "leader"],
  ...["typical_latency", "typical_week", "open_hour", "shown_probe"],
  ...["official_source", "official_reading", "official_incident"],
  ...["alert_event", "channel", "delivery", "delivery_attempt"],
];

/**
 * The embedded database has no autovacuum: plans go wrong without statistics (the board four times slower), and the
 * tables that every tick rewrites grow. On a server this costs next to nothing.
 *
 * Statistics come first. A vacuum writes a table's size into the catalogue, but the embedded backend keeps the size
 * that it has cached, and an analyze that finds the same size there does not make it look again: small tables then
 * count as ten pages until the directory is opened anew, and the board takes half as long again.
 */
async function vacuum(pool: Pool): Promise<void> {
  await pool.script(`analyze ${rewritten.join(", ")}`);
  for (const table of rewritten) await pool.script(`vacuum ${table}`);
  await pool.script("analyze");
}

/**
 * One by one, so that others have their turn between them. Without statistics: these have ten pages and more, whose
 * rows are guessed well.
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
