import { version } from "../../../shared/config/package.js";
import type { Db } from "../../../shared/database/pool.js";
import { rulesRow } from "../../../shared/rules/engine-rules.js";
import type { LeaseTerm } from "./lease.js";

/** Decisions of one instant, as slugs of incidents. */
export interface Decided {
  at: string;
  opened: string[];
  escalated: string[];
  closed: string[];
  retracted: string[];
}

/**
 * Nothing was changed: the lease was lost, this or a later instant was already decided, or the database failed over
 * recently (sql/engine/075-after-promotion.sql).
 */
export interface Refused {
  refused: "not the leader" | "new timeline" | "decided before";
}

export interface TickOptions {
  rules?: Record<string, number>;
  /**
   * The time of the decision, which may be long after the instant; alerts are then marked late. Null: the database's
   * clock. Default: the instant itself.
   */
  now?: Date | null;
  /** The lease that must still be held; null: none is required. */
  term?: LeaseTerm | null;
  /** Reset all states, because earlier instants were skipped. */
  fromScratch?: boolean;
}

/**
 * Decides one instant: grades all components and updates incidents, in one transaction. It uses only what was known at
 * `at`, and the decisions of earlier ticks.
 */
export async function tick(
  db: Db,
  at: Date,
  { rules = rulesRow, now = at, term = null, fromScratch = false }: TickOptions = {},
): Promise<Decided | Refused> {
  const [row] = await db.file<{ decided: Decided | Refused }>("tick", [
    at,
    now,
    JSON.stringify(rules),
    version,
    term?.holder ?? null,
    term?.fence ?? null,
    fromScratch,
  ]);
  return row!.decided;
}

interface DueInstant {
  at: Date;
  fromScratch: boolean;
}

/** Undecided instants up to a time, in order. */
export async function dueInstants(db: Db, upTo: Date, rules: Record<string, number> = rulesRow): Promise<DueInstant[]> {
  return db.file<DueInstant>("due_instants", [upTo, JSON.stringify(rules)]);
}

/** For callers that are the only engine and move forward in time: a refusal is an error. */
export function accepted(decided: Decided | Refused): Decided {
  if ("refused" in decided) throw new Error(`the engine refused to tick: ${decided.refused}`);
  return decided;
}

/**
 * Decides every undecided instant up to a time, each in its own transaction: an interruption loses nothing, and readers
 * see progress. Stops after a refusal, which it yields.
 */
export async function* decideUpTo(
  db: Db,
  upTo: Date,
  { now = upTo, ...options }: Omit<TickOptions, "fromScratch"> = {},
): AsyncGenerator<Decided | Refused, void, void> {
  for (const { at, fromScratch } of await dueInstants(db, upTo, options.rules)) {
    const decided = await tick(db, at, { ...options, now, fromScratch });
    yield decided;
    if ("refused" in decided) return;
  }
}
