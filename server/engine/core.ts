import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { type Pool, sql } from "../db.js";
import type { Log } from "../log.js";
import { tick } from "./tick.js";

/** How often the engine decides: as often as the default cadence brings new samples. */
export const tickMs = 5_000;
/** A leader that has not renewed for this long is dead, and another core takes over: three ticks. */
const leaseMs = 15_000;
const minuteMs = 60_000;
const lateEveryMs = 10 * minuteMs;
const compressEveryMs = minuteMs;
const retainEveryMs = 60 * minuteMs;

export interface Core {
  /** When it last ticked as the leader; null before. */
  lastTickAt: () => Date | null;
  leads: () => boolean;
  close: () => Promise<void>;
}

/**
 * Runs the engine and the upkeep of the history, as long as this core is the leader. Everything is done by one loop,
 * one thing after the other: two refreshes of one roll-up at once fail, and the embedded database has one backend.
 */
export function startCore(pool: Pool, log: Log): Core {
  const holder = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  const stopping = new AbortController();
  let lastTickAt: Date | null = null;
  let leading = false;

  async function turn(): Promise<void> {
    const leads = await lead(pool, holder);
    if (leads !== leading)
      log.info(leads ? "leads from now on" : "no longer leads", { holder });
    leading = leads;
    if (!leads) return;
    const at = await databaseTime(pool);
    await refreshNewest(pool, log, at);
    lastTickAt = (await decide(pool, log, at)) ?? lastTickAt;
    await chores(at);
  }

  const chores = makeChores(pool, log);
  const running = repeat(turn, log, stopping.signal);
  return {
    lastTickAt: () => lastTickAt,
    leads: () => leading,
    async close() {
      stopping.abort();
      await running;
    },
  };
}

/** Turn after turn on a grid of ticks. A turn that fails is told and tried anew at the next tick: nothing is skipped silently. */
async function repeat(
  turn: () => Promise<void>,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const startedAtMs = performance.now();
    try {
      await turn();
    } catch (error) {
      log.error("a turn of the engine failed; the next tick tries again", {
        error,
      });
    }
    const tookMs = performance.now() - startedAtMs;
    if (tookMs > tickMs)
      log.warn("a turn took longer than a tick", {
        tookMs: Math.round(tookMs),
      });
    const restMs = tickMs - (Date.now() % tickMs);
    await wait(restMs, undefined, { signal }).catch(() => {});
  }
}

async function lead(pool: Pool, holder: string): Promise<boolean> {
  const [row] = await pool.file<{ leads: boolean }>("lead", [
    "engine",
    holder,
    leaseMs,
  ]);
  return row?.leads ?? false;
}

/**
 * Before the tick, so that whatever it says can be found in the roll-ups. The engine itself reads raw samples: a refresh
 * that fails, for instance beside one of an operator's, must not keep it from deciding.
 */
async function refreshNewest(pool: Pool, log: Log, at: Date): Promise<void> {
  try {
    await pool.query(sql`call upkeep.refresh_newest(${at})`);
  } catch (error) {
    log.error("the newest minutes were not rolled up; the next tick does it", {
      error,
    });
  }
}

async function decide(pool: Pool, log: Log, at: Date): Promise<Date | null> {
  const decided = await tick(pool, at);
  if (!decided) return null;
  for (const slug of decided.opened) log.info("incident opened", { slug });
  for (const slug of decided.escalated)
    log.info("incident escalated", { slug });
  for (const slug of decided.closed) log.info("incident closed", { slug });
  return at;
}

/** Instants are the database's, so that several cores agree on what time it is. */
async function databaseTime(pool: Pool): Promise<Date> {
  const [row] = await pool.query<{ at: Date }>(
    sql`select date_trunc('milliseconds', clock_timestamp()) as at`,
  );
  return row!.at;
}

/** What need not be done at every tick, each at its own pace, in the order that upkeep.sql explains. */
function makeChores(pool: Pool, log: Log): (at: Date) => Promise<void> {
  const done = new Map<string, number>();
  function due(chore: string, everyMs: number): boolean {
    const before = done.get(chore);
    const now = performance.now();
    if (before !== undefined && now - before < everyMs) return false;
    done.set(chore, now);
    return true;
  }

  return async (at) => {
    if (due("open buckets", minuteMs))
      await pool.query(sql`call upkeep.refresh_open_buckets(${at})`);
    if (due("late samples", lateEveryMs))
      await pool.query(sql`call upkeep.refresh_late(${at})`);
    if (due("compress", compressEveryMs)) await compressNext(pool, log, at);
    if (due("retain", retainEveryMs)) await retain(pool, log, at);
    if (due("vacuum", retainEveryMs)) await vacuum(pool);
  };
}

async function compressNext(pool: Pool, log: Log, at: Date): Promise<void> {
  const [row] = await pool.query<{ chunk: string | null }>(
    sql`select upkeep.compress_next(${at}) as chunk`,
  );
  if (row?.chunk) log.debug("compressed", { chunk: row.chunk });
}

async function retain(pool: Pool, log: Log, at: Date): Promise<void> {
  const [row] = await pool.query<{ dropped: number }>(
    sql`select upkeep.retain(${at}) as dropped`,
  );
  if (row?.dropped) log.info("dropped old chunks", { chunks: row.dropped });
}

/**
 * The embedded database has no autovacuum: plans go wrong without statistics (the board four times slower), and the
 * tables that every tick rewrites grow. On a server this costs next to nothing.
 */
async function vacuum(pool: Pool): Promise<void> {
  await pool.script("vacuum region_state");
  await pool.script("vacuum component_state");
  await pool.script("vacuum probe");
  await pool.script("vacuum engine_clock");
  await pool.script("analyze");
}
