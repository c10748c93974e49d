import type { Db } from "../db.js";
import { version } from "../package.js";
import { rulesRow } from "./rules.js";

/** What one tick did; slugs of incidents. */
export interface Decided {
  at: string;
  opened: string[];
  escalated: string[];
  closed: string[];
}

/**
 * Grades everything and moves incidents as of one instant, in one transaction of the database. It looks at nothing
 * but the samples up to `at` and what earlier ticks decided.
 *
 * @returns null when this instant, or a later one, was decided before
 */
export async function tick(
  db: Db,
  at: Date,
  rules = rulesRow,
): Promise<Decided | null> {
  const [row] = await db.file<{ decided: Decided | null }>("tick", [
    at,
    JSON.stringify(rules),
    version,
  ]);
  return row?.decided ?? null;
}
