import { countsAsAway } from "../../shared/database/away.js";
import { type Pool, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import type { Outage } from "../../shared/log/outage.js";
import { stackOf } from "../../shared/process/user-error.js";
import type { LeaseTerm } from "./lease.js";
import type { EngineMetrics } from "./metrics.js";
import type { RulesRow } from "./rules.js";
import { type Decided, decideUpTo } from "./tick.js";
import { underWayElsewhere } from "./under-way.js";

/** Beyond this, what was missed is caught up, and not just a slow tick made up for. */
const pauseMs = 5 * 60_000;

const notYet = { inMs: 500, upToDate: false };

interface Deciding {
  pool: Pool;
  log: Log;
  rules: RulesRow;
  /** How long after an instant it is decided: what was on its way into the database by then has arrived. */
  settleMs: number;
  term: LeaseTerm;
  /** Asked after every instant. */
  goesOn: () => boolean;
  metrics: EngineMetrics | undefined;
  /** Something was written into the outbox. */
  onAlert: () => void;
  /** The database's clock is behind what is decided already. */
  ahead: Outage;
}

interface Next {
  inMs: number;
  /** False: there are instants that are due, and that could not be decided yet. */
  upToDate: boolean;
}

/**
 * Decides every instant that is due, in order.
 *
 * @returns when to come again; null when the office is another's by now
 */
export async function evaluateDue(deciding: Deciding): Promise<Next | null> {
  const { pool, log, rules, settleMs, term, goesOn, metrics, onAlert } = deciding;
  const { ahead } = deciding;
  const askedAtMs = performance.now();
  const { now, upTo, tickedAt, hoursAreDue } = await clocks(pool, settleMs);
  if (tickedAt && tickedAt > now) {
    ahead.failed("ticks", { now, tickedAt });
    return { inMs: rules.step_ms, upToDate: true };
  }
  ahead.succeeded();
  const away = tickedAt !== null && +now - +tickedAt > pauseMs;
  if (away) log.info("catches up on what was missed", { since: tickedAt });

  if (hoursAreDue && !(await rollUpHours(pool, log, upTo))) return notYet;

  let instants = 0;
  let begunMs = performance.now();
  for await (const decided of decideUpTo(pool, upTo, {
    rules,
    term,
    now: null,
  })) {
    if ("refused" in decided) {
      if (decided.refused === "not the leader") return null;
      if (decided.refused === "new timeline") return notYet;
      log.warn("an instant was decided before this core came to it");
      return notYet;
    }
    metrics?.decided(decided, performance.now() - begunMs);
    begunMs = performance.now();
    if (isAlert(decided)) onAlert();
    tell(log, decided);
    instants += 1;
    if (!goesOn()) return { inMs: 0, upToDate: false };
  }
  if (away) log.info("has caught up", { instants });

  const nextAtMs = (Math.floor(+upTo / rules.step_ms) + 1) * rules.step_ms;
  const passedMs = performance.now() - askedAtMs;
  return { inMs: Math.max(0, nextAtMs - +upTo - passedMs), upToDate: true };
}

/**
 * After a pause nobody has rolled up yet the hours that typical latencies are made of. An engine that cannot do it
 * decides nonetheless, by those that are there.
 *
 * @returns false while another core is about it
 */
async function rollUpHours(pool: Pool, log: Log, upTo: Date): Promise<boolean> {
  try {
    await pool.query(sql`call upkeep.refresh_hours(${upTo})`);
  } catch (error) {
    if (underWayElsewhere(error)) return false;
    if (!countsAsAway(log, "roll-ups of hours", error))
      log.error("typical latencies are computed from incomplete hours", {
        stack: stackOf(error),
      });
  }
  return true;
}

function isAlert({ opened, escalated, closed }: Decided): boolean {
  return [opened, escalated, closed].some((slugs) => slugs.length > 0);
}

function tell(log: Log, { at, opened, escalated, closed, retracted }: Decided): void {
  for (const slug of retracted) log.warn("incident retracted", { slug, at });
  for (const slug of closed) log.info("incident closed", { slug, at });
  for (const slug of escalated) log.info("incident escalated", { slug, at });
  for (const slug of opened) log.info("incident opened", { slug, at });
}

interface Clocks {
  now: Date;
  upTo: Date;
  tickedAt: Date | null;
  /** Typical latencies are reckoned by one of the instants that are due. */
  hoursAreDue: boolean;
}

/** Instants are the database's, so that several cores agree on what time it is. */
async function clocks(pool: Pool, settleMs: number): Promise<Clocks> {
  const [row] = await pool.file<Clocks>("engine_clocks", [settleMs]);
  return row!;
}
