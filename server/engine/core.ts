import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { type Pool, sql } from "../db.js";
import type { Log } from "../log.js";
import { makeLease, type Term } from "./lease.js";
import { rulesRow } from "./rules.js";
import { type Decided, decideUpTo, type Refused } from "./tick.js";
import {
  type Chore,
  upkeepChores,
  type UpkeepPace,
  usualUpkeepPace,
} from "./upkeep.js";

export interface Pace extends UpkeepPace {
  tickMs: number;
  /** How long after an instant it is decided: what was on its way into the database by then has arrived. */
  settleMs: number;
  leaseMs: number;
}

export const usualPace: Pace = {
  // as often as there is an instant to decide
  tickMs: rulesRow.step_ms,
  // a batch of samples is inserted in some tens of milliseconds
  settleMs: 500,
  // a leader that has not renewed for this long is taken for dead, so that another has taken over within two ticks. One that
  // was only slow loses its office, and nothing else: the fence keeps it from writing.
  leaseMs: 2_000,
  ...usualUpkeepPace,
};

/** A leader renews its lease this many times before it runs out, and the others ask for it as often. */
const renewalsALease = 4;

/** Beyond this, what was missed is caught up, and not just a slow tick made up for. */
const pauseMs = 5 * 60_000;

export interface Core {
  /** How it signs in the table `leader`. */
  holder: string;
  /** Ends after what is under way in the database; hands the leadership over. */
  close: () => Promise<void>;
}

/**
 * Runs the engine and the upkeep of the history, as long as this core is the leader. Deciding and upkeep go on side by
 * side, so that a long refresh does not keep an incident waiting; each does one thing after the other, since two refreshes
 * of one roll-up at once fail.
 */
export function startCore(pool: Pool, log: Log, pace = usualPace): Core {
  const holder = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  const lease = makeLease(pool, "engine", holder, pace.leaseMs);
  const stopping = new AbortController();
  const { signal } = stopping;
  let term: Term | null = null;
  /** Null until the first instants of this term are decided: upkeep waits for that. */
  let dueChores: (() => Chore[]) | null = null;
  const becameLeader = new Waker();

  async function renew(): Promise<void> {
    const taken = await lease.take();
    if (taken && taken.fence !== term?.fence) {
      log.info("leads from now on", { holder, fence: taken.fence });
      term = taken;
      becameLeader.wake();
    }
    if (!taken) follow();
  }

  function follow(): void {
    if (term) log.info("no longer leads", { holder });
    term = null;
    dueChores = null;
  }

  async function decide(): Promise<void> {
    if (!term) return;
    const current = term;
    const { now, tickedAt } = await clocks(pool);
    if (tickedAt && tickedAt > now)
      return log.warn(
        "nothing was decided: the engine has decided instants that are still to come; if this goes on, the database's clock went back",
        { now, tickedAt },
      );
    if (tickedAt && +now - +tickedAt > pauseMs) await prepareCatchUp(tickedAt);
    const upTo = new Date(+now - pace.settleMs);
    for await (const decided of decideUpTo(pool, upTo, { term: current })) {
      if ("refused" in decided) return refused(decided);
      tell(decided);
      if (signal.aborted || term !== current) return;
    }
    // whoever led before, what it left undone is unknown: everything is due
    dueChores ??= schedule(upkeepChores(pool, log, pace));
  }

  /** The typical latencies of the time that was missed are reckoned from roll-ups, which nobody refreshed either. */
  async function prepareCatchUp(since: Date): Promise<void> {
    log.info("catches up on what was missed", { since });
    await pool.query(sql`call upkeep.refresh_late(${new Date()})`);
  }

  function refused({ refused }: Refused): void {
    if (refused === "not the leader") return follow();
    log.warn("an instant was decided before this core came to it");
  }

  function tell({ at, opened, escalated, closed, retracted }: Decided): void {
    for (const slug of retracted) log.warn("incident retracted", { slug, at });
    for (const slug of closed) log.info("incident closed", { slug, at });
    for (const slug of escalated) log.info("incident escalated", { slug, at });
    for (const slug of opened) log.info("incident opened", { slug, at });
  }

  async function keepUp(): Promise<void> {
    for (const chore of dueChores?.() ?? []) {
      if (signal.aborted || !term) return;
      try {
        await chore.run((await clocks(pool)).now);
      } catch (error) {
        log.error(`${chore.name} failed, and is tried again when it is due`, {
          error,
        });
      }
    }
  }

  async function handOver(): Promise<void> {
    try {
      await lease.release();
    } catch (error) {
      log.warn("could not hand over; the lease runs out by itself", { error });
    }
  }

  /** Without the database nobody knows whether the lease still holds; another core may have it by now. */
  function renewalFailed(error: unknown): void {
    follow();
    log.error("could not renew the lease; the next turn tries again", {
      error,
    });
  }

  function decidingFailed(error: unknown): void {
    log.error("deciding failed; the next tick tries again", { error });
  }

  const running = Promise.all([
    repeat(renew, renewalFailed, pace.leaseMs / renewalsALease, signal),
    repeat(decide, decidingFailed, pace.tickMs, signal, becameLeader),
    repeat(keepUp, decidingFailed, pace.tickMs, signal),
  ]);
  return {
    holder,
    async close() {
      stopping.abort();
      await running;
      await handOver();
    },
  };
}

/** Turn after turn on a grid of time, never two at once; sooner when it is woken. */
async function repeat(
  turn: () => Promise<void>,
  failed: (error: unknown) => void,
  everyMs: number,
  signal: AbortSignal,
  waker = new Waker(),
): Promise<void> {
  while (!signal.aborted) {
    const woken = AbortSignal.any([signal, waker.next()]);
    await turn().catch(failed);
    const restMs = everyMs - (Date.now() % everyMs);
    await wait(restMs, undefined, { signal: woken }).catch(() => {});
  }
}

/** Cuts a wait short, also one that is still to come. */
class Waker {
  #waiting = new AbortController();

  next(): AbortSignal {
    if (this.#waiting.signal.aborted) this.#waiting = new AbortController();
    return this.#waiting.signal;
  }

  wake(): void {
    this.#waiting.abort();
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
async function clocks(
  pool: Pool,
): Promise<{ now: Date; tickedAt: Date | null }> {
  const [row] = await pool.query<{ now: Date; tickedAt: Date | null }>(sql`
    select
      date_trunc('milliseconds', clock_timestamp()) as now,
      (select ticked_at from engine_clock) as "tickedAt"
  `);
  return row!;
}
