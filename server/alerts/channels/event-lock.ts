import { type Db, sql } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";

/**
 * Holds off whoever writes alert events, until the transaction ends. The engine's tick and the dispatcher that are
 * under way end first: what has happened by then is seen whole, and what happens later sees what this transaction does.
 *
 * The engine waits meanwhile, so that little may be done, and nobody waited for.
 *
 * @throws UserError when they do not end in time
 */
export async function holdEvents(tx: Db, withinMs = 10_000): Promise<void> {
  await tx.query(sql`select set_config('lock_timeout', ${`${withinMs}ms`}, true)`);
  try {
    await tx.query(sql`lock table alert_event in share mode`);
  } catch (error) {
    if ((error as { code?: string }).code !== "55P03") throw error;
    throw new UserError(
      `somebody, usually the engine, has been writing alert events for ${withinMs / 1000} s, and nothing was changed: try again`,
      { cause: error },
    );
  }
}
