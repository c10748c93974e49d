import { countsAsAway } from "../../../shared/database/fault.js";
import { type Pool, sql } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import type { Outage, OutageWords } from "../../../shared/log/outage.js";
import { stackOf } from "../../../shared/process/user-error.js";
import type { RulesRow } from "../../../shared/rules/engine-rules.js";
import type { EngineMetrics } from "../metrics.js";
import { underWayElsewhere } from "../rollups/reconcile.js";
import type { LeaseTerm } from "./lease.js";
import { type Decided, decideUpTo } from "./tick.js";

/** A gap longer than this is a pause, whose instants are caught up on; a shorter one is just a slow tick. */
function pauseMsOf({ step_ms }: RulesRow): number {
  return Math.max(5 * 60_000, 3 * step_ms);
}

const notYet = { inMs: 500, upToDate: false };

/** For ticks that are skipped because the newest decided instant is ahead of the database's clock. */
export const clockIsBehind: OutageWords = {
  begins:
    "tick skipped: the newest decided instant is later than the database's clock; if this persists, that clock was set back",
  lasts: "ticks still skipped: the database's clock is behind the newest decided instant",
  over: "ticks resumed: the database's clock has caught up",
};

/** For ticks that are skipped because the database's clock may have been set ahead. */
export const clockIsDoubtful: OutageWords = {
  begins:
    "tick skipped: minutes have passed since the newest decided instant, and no probe has measured anything in the last one; decisions wait for a sample, in case the database's clock was set ahead",
  lasts: "ticks still skipped: no sample confirms the time of the database",
  over: "ticks resumed: samples confirm the time of the database",
};

interface Deciding {
  pool: Pool;
  log: Log;
  rules: RulesRow;
  /** Delay between an instant and its decision: samples in transit to the database have arrived by then. */
  settleMs: number;
  term: LeaseTerm;
  /** Checked after every instant. */
  stillLeads: () => boolean;
  metrics: EngineMetrics | undefined;
  /** Called when an alert was written into the outbox. */
  onAlert: () => void;
  /** Logs in the words of `clockIsBehind`. */
  ahead: Outage;
  /** Logs in the words of `clockIsDoubtful`. */
  doubt: Outage;
}

interface Next {
  inMs: number;
  /** False: some instants that are due could not be decided yet. */
  upToDate: boolean;
  /** The database's clock may be ahead: upkeep, which deletes what is old, must wait, too. */
  doubtful?: boolean;
}

/**
 * Decides every instant that is due, in order.
 *
 * @returns when to be called next; null when another core has taken the lease
 */
export async function evaluateDue(deciding: Deciding): Promise<Next | null> {
  const { pool, log, rules, settleMs, term, stillLeads, metrics, onAlert } = deciding;
  const { ahead, doubt } = deciding;
  const askedAtMs = performance.now();
  const { now, upTo, tickedAt, hoursAreDue, doubtful } = await readClocks(pool, settleMs, pauseMsOf(rules));
  if (tickedAt && tickedAt > now) {
    ahead.failed("ticks", { now, tickedAt });
    return { inMs: rules.step_ms, upToDate: true };
  }
  ahead.succeeded();
  // An instant is decided once. If a clock that jumped ahead were followed, nothing could be decided after its return
  // until it reaches that instant again. Waiting costs nothing: after such a pause every state reads unknown anyway.
  if (doubtful) {
    doubt.failed("ticks", { now, tickedAt });
    return { inMs: rules.step_ms, upToDate: false, doubtful };
  }
  doubt.succeeded();
  const away = tickedAt !== null && +now - +tickedAt > pauseMsOf(rules);
  if (away) log.info("engine catching up on missed instants", { since: tickedAt });

  if (hoursAreDue && !(await rollUpHours(pool, log, upTo))) return notYet;

  let instants = 0;
  let startedMs = performance.now();
  for await (const decided of decideUpTo(pool, upTo, {
    rules,
    term,
    now: null,
  })) {
    if ("refused" in decided) {
      if (decided.refused === "not the leader") return null;
      if (decided.refused === "new timeline") return notYet;
      log.warn("instant already decided by another core");
      return notYet;
    }
    metrics?.decided(decided, performance.now() - startedMs);
    startedMs = performance.now();
    if (isAlert(decided)) onAlert();
    logEvents(log, decided);
    instants += 1;
    if (!stillLeads()) return { inMs: 0, upToDate: false };
  }
  if (away) log.info("engine caught up", { instants });

  const nextAtMs = (Math.floor(+upTo / rules.step_ms) + 1) * rules.step_ms;
  const passedMs = performance.now() - askedAtMs;
  return { inMs: Math.max(0, nextAtMs - +upTo - passedMs), upToDate: true };
}

/**
 * After a pause, the hours that typical latencies are computed from are not rolled up yet. If rolling them up fails,
 * the engine still decides, using the hours that exist.
 *
 * @returns false while another core is rolling them up
 */
async function rollUpHours(pool: Pool, log: Log, upTo: Date): Promise<boolean> {
  try {
    await pool.query(sql`call upkeep.refresh_hours(${upTo})`);
  } catch (error) {
    if (underWayElsewhere(error)) return false;
    if (!countsAsAway(log, "roll-ups of hours", error))
      log.error("rolling up hours failed; typical latencies are computed from incomplete hours", {
        stack: stackOf(error),
      });
  }
  return true;
}

function isAlert({ opened, escalated, closed }: Decided): boolean {
  return [opened, escalated, closed].some((slugs) => slugs.length > 0);
}

function logEvents(log: Log, { at, opened, escalated, closed, retracted }: Decided): void {
  for (const slug of retracted) log.warn("incident retracted", { slug, at });
  for (const slug of closed) log.info("incident closed", { slug, at });
  for (const slug of escalated) log.info("incident escalated", { slug, at });
  for (const slug of opened) log.info("incident opened", { slug, at });
}

interface Clocks {
  now: Date;
  upTo: Date;
  tickedAt: Date | null;
  /** One of the due instants computes typical latencies. */
  hoursAreDue: boolean;
  /** A pause has passed, and no sample confirms it. */
  doubtful: boolean;
}

/** Uses the database's clock, so that all cores agree on the time. */
async function readClocks(pool: Pool, settleMs: number, pauseMs: number): Promise<Clocks> {
  const [row] = await pool.file<Clocks>("engine_clocks", [settleMs, pauseMs]);
  return row!;
}
