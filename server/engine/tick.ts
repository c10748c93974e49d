import type { Db } from "../../shared/database/pool.js";
import { version } from "../../shared/config/package.js";
import type { LeaseTerm } from "./lease.js";
import { rulesRow } from "./rules.js";

/** What was decided at one instant; slugs of incidents. */
export interface Decided {
  at: string;
  opened: string[];
  escalated: string[];
  closed: string[];
  retracted: string[];
}

/**
 * Nothing was changed: the lease was lost, this instant or a later one was decided before, or the database was failed
 * over shortly before (sql/engine/075-timeline.sql).
 */
export interface Refused {
  refused: "not the leader" | "new timeline" | "decided before";
}

export interface TickOptions {
  rules?: Record<string, number>;
  /**
   * When it is decided, which may be long after the instant; alerts are then marked late. Null: by the database's
   * clock. By default at the instant.
   */
  now?: Date | null;
  /** The lease under which it is done; null: none is needed. */
  term?: LeaseTerm | null;
  /** States begin anew: instants before this one were given up. */
  anew?: boolean;
}

/**
 * Decides one instant: grades everything and moves incidents, in one transaction of the database. It looks at nothing
 * but what was known at `at`, and what earlier ticks decided.
 */
export async function tick(
  db: Db,
  at: Date,
  { rules = rulesRow, now = at, term = null, anew = false }: TickOptions = {},
): Promise<Decided | Refused> {
  const [row] = await db.file<{ decided: Decided | Refused }>("tick", [
    at,
    now,
    JSON.stringify(rules),
    version,
    term?.holder ?? null,
    term?.fence ?? null,
    anew,
  ]);
  return row!.decided;
}

interface DueInstant {
  at: Date;
  anew: boolean;
}

/** The instants up to a time that are still to be decided, in order. */
export async function dueInstants(db: Db, upTo: Date, rules: Record<string, number> = rulesRow): Promise<DueInstant[]> {
  return db.file<DueInstant>("due_instants", [upTo, JSON.stringify(rules)]);
}

/** What a tick must not refuse: only one engine runs, and time goes forward. */
export function accepted(decided: Decided | Refused): Decided {
  if ("refused" in decided) throw new Error(`the engine refused to tick: ${decided.refused}`);
  return decided;
}

/**
 * Decides every instant up to a time that is still to be decided, one by one, each in a transaction of its own: so
 * whoever is interrupted has lost nothing, and readers see time pass. Ends after a refusal, which it yields.
 */
export async function* decideUpTo(
  db: Db,
  upTo: Date,
  { now = upTo, ...options }: Omit<TickOptions, "anew"> = {},
): AsyncGenerator<Decided | Refused, void, void> {
  for (const { at, anew } of await dueInstants(db, upTo, options.rules)) {
    const decided = await tick(db, at, { ...options, now, anew });
    yield decided;
    if ("refused" in decided) return;
  }
}
