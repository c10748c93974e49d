import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { countsAsAway } from "../../../shared/database/fault.js";
import type { Pool } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import { makeOutage } from "../../../shared/log/outage.js";
import { startLoop } from "../../../shared/process/loop.js";
import { stackOf } from "../../../shared/process/user-error.js";
import { type RulesRow, rulesRow } from "../../../shared/rules/engine-rules.js";
import type { EngineMetrics } from "../metrics.js";
import { makeUpkeep, type Upkeep, type UpkeepPace, usualUpkeepPace } from "../rollups/upkeep.js";
import { clockIsBehind, clockIsDoubtful, evaluateDue } from "./evaluation-loop.js";
import { leaseMs, type LeaseTerm, makeLease, renewalsALease } from "./lease.js";

export interface EnginePace extends UpkeepPace {
  /** Delay between an instant and its decision, so that samples in transit arrive first. */
  settleMs: number;
  leaseMs: number;
}

export const usualPace: EnginePace = {
  // inserting a batch of samples takes some tens of milliseconds
  settleMs: 500,
  leaseMs,
  ...usualUpkeepPace,
};

export interface EngineOptions {
  pool: Pool;
  /** A separate connection, so that no statement of the pool delays a renewal. */
  leasePool: Pool;
  log: Log;
  rules?: RulesRow;
  pace?: EnginePace;
  metrics?: EngineMetrics | undefined;
  /**
   * Reads the venue feed that is due, if any; resolves with the milliseconds until the next is due. Absent: no feeds
   * are read.
   */
  readNextFeed?: (signal: AbortSignal) => Promise<number>;
  /** The same of the venues' lists of deposits and withdrawals. */
  readNextTransfers?: (signal: AbortSignal) => Promise<number>;
  /** Called after an alert in the outbox was committed. */
  onAlert?: () => void;
}

export interface Engine {
  /** This core's name in the table `leader`. */
  holder: string;
  /** Releases the lease, then waits for the database work in progress. */
  close: () => Promise<void>;
}

/** A core's state while it is the leader. */
interface Leadership {
  term: LeaseTerm;
  upkeep: Upkeep;
  /** All instants due at the start of the leadership are decided, or deciding them failed. Upkeep waits for this. */
  upToDate: boolean;
}

/**
 * While this core is the leader, runs the engine and upkeep and reads the venue feeds. These run concurrently, so that
 * neither a long refresh nor a slow feed delays lease renewals or incidents.
 */
export function startEngine({
  pool,
  leasePool,
  log,
  rules = rulesRow,
  pace = usualPace,
  metrics,
  readNextFeed,
  readNextTransfers,
  onAlert = () => {},
}: EngineOptions): Engine {
  const holder = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  const lease = makeLease(leasePool, "engine", holder, pace.leaseMs);
  const renewEveryMs = pace.leaseMs / renewalsALease;
  let leadership: Leadership | null = null;
  let closing = false;
  metrics?.leads(false);
  const ahead = makeOutage(log, clockIsBehind);
  const doubt = makeOutage(log, clockIsDoubtful, { level: "warn" });

  const renewing = startLoop(async () => {
    try {
      const term = await lease.take();
      if (!term) follow();
      else if (term.fence !== leadership?.term.fence) lead(term);
    } catch (error) {
      // this core may still be the leader; the fence shows it once the database responds
      if (!countsAsAway(log, "lease renewals", error))
        log.error("renewing the engine lease failed; retrying", { stack: stackOf(error) });
    }
    return renewEveryMs;
  });

  const deciding = startLoop(async () => {
    const current = leadership;
    if (!current) return rules.step_ms;
    const { settleMs } = pace;
    const { term } = current;
    const stillLeads = () => leadership === current && !closing;
    try {
      const next = await evaluateDue({ pool, log, rules, settleMs, term, stillLeads, metrics, onAlert, ahead, doubt });
      if (next?.upToDate) allowUpkeep(current);
      if (next?.doubtful) current.upToDate = false;
      if (next) return next.inMs;
      if (leadership === current) follow();
    } catch (error) {
      if (!countsAsAway(log, "decisions", error))
        log.error("tick failed; retrying at the next one", { stack: stackOf(error) });
      // a failing engine must not block upkeep
      allowUpkeep(current);
    }
    return rules.step_ms;
  });

  function allowUpkeep(current: Leadership): void {
    if (current.upToDate) return;
    current.upToDate = true;
    keepingUp.wake();
  }

  const keepingUp = startLoop(async () => {
    const current = leadership;
    if (!current?.upToDate) return rules.step_ms;
    return current.upkeep.doWhatIsDue(() => leadership === current && !closing);
  });

  const leads = () => leadership !== null;
  const feedReaders = readNextFeed && startReaders(readNextFeed, readersAtOnce, leads, rules.step_ms, log);
  // a single one: a list has megabytes, and two at once would take twice the memory
  const listReaders = readNextTransfers && startReaders(readNextTransfers, 1, leads, rules.step_ms, log);

  function lead(term: LeaseTerm): void {
    log.info("became the leader", { ...term });
    // the previous leader's unfinished work is unknown, so everything is due
    metrics?.leads(true);
    const upkeep = makeUpkeep(pool, log, pace, metrics);
    leadership = { term, upkeep, upToDate: false };
    deciding.wake();
  }

  function follow(): void {
    if (leadership) log.info("lost the leadership", { ...leadership.term });
    metrics?.leads(false);
    leadership = null;
  }

  async function handOver(): Promise<void> {
    if (!leadership) return;
    try {
      await lease.release();
    } catch (error) {
      log.warn("releasing the engine lease failed; it will expire", { error });
    }
  }

  return {
    holder,
    async close() {
      closing = true;
      const feedsRead = Promise.all([feedReaders?.close(), listReaders?.close()]);
      // released first, so that another core need not wait for the work in progress here
      const handedOver = renewing.end().then(handOver);
      await Promise.all([handedOver, deciding.end(), keepingUp.end(), feedsRead]);
    },
  };
}

export interface FeedReaders {
  /** Aborts the readings in progress, and resolves when they have ended. */
  close: () => Promise<void>;
}

/** Concurrent feed readers: one feed that hangs does not delay the others, and few bodies are held in memory. */
const readersAtOnce = 3;

/** Delay after a reading failed because of a fault of this service. */
const readAgainMs = 5_000;

/**
 * Reads the venue feeds while this core is the leader. A core that loses the lease still completes its current reading,
 * since no other core reads that feed until it is due again. Closing aborts the reading.
 *
 * @param readNext resolves with the milliseconds until the next feed is due
 * @param atOnce the number of feeds that are read at once
 * @param leads checked before each reading, and every `lookMs` while this core does not lead
 */
function startReaders(
  readNext: (signal: AbortSignal) => Promise<number>,
  atOnce: number,
  leads: () => boolean,
  lookMs: number,
  log: Log,
): FeedReaders {
  const closing = new AbortController();

  async function read(): Promise<number> {
    if (!leads()) return lookMs;
    try {
      return await readNext(closing.signal);
    } catch (error) {
      if (!closing.signal.aborted && !countsAsAway(log, "readings of feeds", error))
        log.error("reading a venue feed failed; retrying later", { stack: stackOf(error) });
      return readAgainMs;
    }
  }

  const readers = Array.from({ length: atOnce }, () => startLoop(read));
  return {
    async close() {
      closing.abort();
      await Promise.all(readers.map((reader) => reader.end()));
    },
  };
}
