import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { countsAsAway } from "../../shared/database/away.js";
import type { Pool } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { evaluateDue } from "./evaluation-loop.js";
import { makeLease, type LeaseTerm } from "./lease.js";
import { startLoop } from "../../shared/process/loop.js";
import { makeOutage } from "../../shared/log/outage.js";
import { stackOf } from "../../shared/process/user-error.js";
import type { EngineMetrics } from "./metrics.js";
import { type RulesRow, rulesRow } from "./rules.js";
import { makeUpkeep, type Upkeep, type UpkeepPace, usualUpkeepPace } from "./upkeep.js";

export interface CorePace extends UpkeepPace {
  /** How long after an instant it is decided. */
  settleMs: number;
  leaseMs: number;
}

export const usualPace: CorePace = {
  // a batch of samples is inserted in some tens of milliseconds
  settleMs: 500,
  // a leader that has not renewed for this long is taken for dead, so that another has taken over within two ticks. One
  // that was only slow loses its office, and nothing else: the fence keeps it from writing.
  leaseMs: 2_000,
  ...usualUpkeepPace,
};

/** A leader renews its lease this many times before it runs out, and the others ask for it as often. */
const renewalsALease = 4;

export interface CoreOptions {
  pool: Pool;
  /** A connection of the lease's own: no statement of the pool may keep a renewal waiting. */
  leasePool: Pool;
  log: Log;
  rules?: RulesRow;
  pace?: CorePace;
  metrics?: EngineMetrics | undefined;
  /** Reads the venue's feed that is due, if one is; resolves with milliseconds until the next. Absent: none is read. */
  readNextFeed?: (signal: AbortSignal) => Promise<number>;
  /** Called when an alert was written into the outbox, after it was committed. */
  onAlert?: () => void;
}

export interface Core {
  /** How it signs in the table `leader`. */
  holder: string;
  /** Hands the leadership over, and ends after what is under way in the database. */
  close: () => Promise<void>;
}

/** Feeds are read so many at once: one that hangs keeps no other waiting, and few bodies are in memory. */
const readersAtOnce = 3;

/** After a reading that failed for our own fault. */
const readAgainMs = 5_000;

/** What a core has for as long as it leads. */
interface Office {
  term: LeaseTerm;
  upkeep: Upkeep;
  /** The instants that were due when it began are decided, or cannot be; upkeep waits for that. */
  upToDate: boolean;
}

/**
 * Runs the engine and the upkeep of the history, and reads the venues' own feeds, as long as this core is the leader.
 * All that goes on side by side, so that neither a long refresh nor a slow feed keeps the lease or an incident waiting.
 */
export function startCore({
  pool,
  leasePool,
  log,
  rules = rulesRow,
  pace = usualPace,
  metrics,
  readNextFeed,
  onAlert = () => {},
}: CoreOptions): Core {
  const holder = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  const lease = makeLease(leasePool, "engine", holder, pace.leaseMs);
  const renewEveryMs = pace.leaseMs / renewalsALease;
  let office: Office | null = null;
  let closing = false;
  const ending = new AbortController();
  metrics?.leads(false);
  const ahead = makeOutage(log, {
    begun:
      "nothing was decided: the engine has decided instants that are still to come; if this goes on, the database's clock went back",
    lasts: "nothing is decided: the database's clock is still behind",
    over: "the engine decides again: the database's clock has caught up",
  });

  const renewing = startLoop(async () => {
    try {
      const term = await lease.take();
      if (!term) follow();
      else if (term.fence !== office?.term.fence) lead(term);
    } catch (error) {
      // it may still lead: the fence tells, as soon as the database answers
      if (!countsAsAway(log, "lease renewals", error))
        log.error("could not renew the lease; the next turn tries again", {
          stack: stackOf(error),
        });
    }
    return renewEveryMs;
  });

  const deciding = startLoop(async () => {
    const mine = office;
    if (!mine) return rules.step_ms;
    const { settleMs } = pace;
    const { term } = mine;
    const goesOn = () => office === mine && !closing;
    try {
      const next = await evaluateDue({
        pool,
        log,
        rules,
        settleMs,
        term,
        goesOn,
        metrics,
        onAlert,
        ahead,
      });
      if (next?.upToDate) letUpkeepBegin(mine);
      if (next) return next.inMs;
      if (office === mine) follow();
    } catch (error) {
      if (!countsAsAway(log, "decisions", error))
        log.error("deciding failed; the next tick tries again", {
          stack: stackOf(error),
        });
      // an engine that cannot decide must not keep the history waiting
      letUpkeepBegin(mine);
    }
    return rules.step_ms;
  });

  function letUpkeepBegin(mine: Office): void {
    if (mine.upToDate) return;
    mine.upToDate = true;
    keepingUp.wake();
  }

  const keepingUp = startLoop(async () => {
    const mine = office;
    if (!mine?.upToDate) return rules.step_ms;
    return mine.upkeep.doWhatIsDue(() => office === mine && !closing);
  });

  /**
   * A core that leads no more ends its reading all the same: nobody else reads that feed meanwhile. Closing ends it at
   * once.
   */
  const reading = Array.from({ length: readNextFeed ? readersAtOnce : 0 }, () =>
    startLoop(async () => {
      if (!office) return rules.step_ms;
      try {
        return await readNextFeed!(ending.signal);
      } catch (error) {
        if (!closing && !countsAsAway(log, "readings of feeds", error))
          log.error("could not read a venue's feed; it is read again later", {
            stack: stackOf(error),
          });
        return readAgainMs;
      }
    }),
  );

  function lead(term: LeaseTerm): void {
    log.info("leads from now on", { ...term });
    // whoever led before, what it left undone is unknown: everything is due
    metrics?.leads(true);
    const upkeep = makeUpkeep(pool, log, pace, metrics);
    office = { term, upkeep, upToDate: false };
    deciding.wake();
  }

  function follow(): void {
    if (office) log.info("no longer leads", { ...office.term });
    metrics?.leads(false);
    office = null;
  }

  async function handOver(): Promise<void> {
    if (!office) return;
    try {
      await lease.release();
    } catch (error) {
      log.warn("could not hand over; the lease runs out by itself", { error });
    }
  }

  return {
    holder,
    async close() {
      closing = true;
      ending.abort();
      // at once: whoever takes over need not wait for what is under way here
      const handedOver = renewing.end().then(handOver);
      await Promise.all([handedOver, ...[deciding, keepingUp, ...reading].map((loop) => loop.end())]);
    },
  };
}
