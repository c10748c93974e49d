import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { type Pool, sql } from "../db.js";
import type { Log } from "../log.js";
import { makeLease } from "./lease.js";
import { tick } from "./tick.js";
import {
  type Chore,
  upkeepChores,
  type UpkeepPace,
  usualUpkeepPace,
} from "./upkeep.js";

export interface Pace extends UpkeepPace {
  tickMs: number;
  leaseMs: number;
}

export const usualPace: Pace = {
  // as often as the default cadence brings new samples
  tickMs: 5_000,
  // a leader that has not renewed for this long is dead, and another core takes over; it is renewed before each step, and
  // the longest one seen, rolling up half a million late samples, took 14 s
  leaseMs: 30_000,
  ...usualUpkeepPace,
};

export interface Core {
  /** How it signs in the table `leader`. */
  holder: string;
  /** Ends after what is under way in the database; hands the leadership over. */
  close: () => Promise<void>;
}

/**
 * Runs the engine and the upkeep of the history, as long as this core is the leader. Everything is done by one loop,
 * one thing after the other: two refreshes of one roll-up at once fail, and the embedded database has one backend.
 */
export function startCore(pool: Pool, log: Log, pace = usualPace): Core {
  const holder = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  const lease = makeLease(pool, "engine", holder, pace.leaseMs);
  const stopping = new AbortController();
  const { signal } = stopping;
  let dueChores: (() => Chore[]) | null = null;

  async function turn(): Promise<void> {
    if (!(await lease.take())) return follow();
    lead();
    const at = await databaseTime(pool);
    for (const step of [rollUpNewest, decide, ...dueChores!()]) {
      if (signal.aborted) return;
      if (!(await lease.take())) return follow();
      await attempt(step, at);
    }
  }

  /** Whoever led before, what it left undone is unknown: everything is due. */
  function lead(): void {
    if (dueChores) return;
    dueChores = schedule(upkeepChores(pool, log, pace));
    log.info("leads from now on", { holder });
  }

  function follow(): void {
    if (dueChores) log.info("no longer leads", { holder });
    dueChores = null;
  }

  /**
   * Before the tick, so that whatever it says can be found in the roll-ups. The engine itself reads raw samples: a
   * refresh that fails, for instance beside one of an operator's, does not keep it from deciding.
   */
  const rollUpNewest: Step = {
    name: "rolling up the newest minutes",
    run: async (at) => {
      await pool.query(sql`call upkeep.refresh_newest(${at})`);
    },
  };

  const decide: Step = {
    name: "the engine's tick",
    run: (at) => decideAndTell(pool, log, at),
  };

  async function attempt(step: Step, at: Date): Promise<void> {
    try {
      await step.run(at);
    } catch (error) {
      log.error(`${step.name} failed, and is tried again when it is due`, {
        error,
      });
    }
  }

  async function handOver(): Promise<void> {
    try {
      await lease.release();
    } catch (error) {
      log.warn("could not hand over; the lease runs out by itself", { error });
    }
  }

  /** Without the database nothing is known of what was missed meanwhile, so the next turn begins anew. */
  function turnFailed(error: unknown): void {
    dueChores = null;
    log.error("a turn of the engine failed; the next one tries again", {
      error,
    });
  }

  const running = repeat(turn, turnFailed, pace.tickMs, log, signal);
  return {
    holder,
    async close() {
      stopping.abort();
      await running;
      await handOver();
    },
  };
}

type Step = Pick<Chore, "name" | "run">;

/** Turn after turn on a grid of ticks, never two at once. */
async function repeat(
  turn: () => Promise<void>,
  failed: (error: unknown) => void,
  tickMs: number,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const startedAtMs = performance.now();
    await turn().catch(failed);
    const tookMs = Math.round(performance.now() - startedAtMs);
    if (tookMs > tickMs)
      log.warn("a turn took longer than a tick", { tookMs, tickMs });
    const restMs = tickMs - (Date.now() % tickMs);
    await wait(restMs, undefined, { signal }).catch(() => {});
  }
}

/** Tells which chores are due, each at its own pace. One that fails is due again after its period, like any other. */
function schedule(chores: Chore[]): () => Chore[] {
  const dueAtMs = new Map<Chore, number>();
  return () => {
    const nowMs = performance.now();
    const due = chores.filter((chore) => nowMs >= (dueAtMs.get(chore) ?? 0));
    for (const chore of due) dueAtMs.set(chore, nowMs + chore.everyMs);
    return due;
  };
}

/** Instants are the database's, so that several cores agree on what time it is. */
async function databaseTime(pool: Pool): Promise<Date> {
  const [row] = await pool.query<{ at: Date }>(
    sql`select date_trunc('milliseconds', clock_timestamp()) as at`,
  );
  return row!.at;
}

async function decideAndTell(pool: Pool, log: Log, at: Date): Promise<void> {
  const decided = await tick(pool, at);
  if (!decided) {
    log.warn(
      "nothing was decided: the engine has ticked at this instant or a later one; if this goes on, the database's clock went back",
      { at },
    );
    return;
  }
  for (const slug of decided.opened) log.info("incident opened", { slug });
  for (const slug of decided.escalated)
    log.info("incident escalated", { slug });
  for (const slug of decided.closed) log.info("incident closed", { slug });
}
