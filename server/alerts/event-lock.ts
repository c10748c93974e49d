import { type Db, sql } from "../db.js";
import { UserError } from "../user-error.js";

/**
 * Holds off whoever writes alert events, until the transaction ends. The engine's tick and the dispatcher that are under way
 * end first: what has happened by then is seen whole, and what happens later sees what this transaction does.
 *
 * The engine waits meanwhile, so that little may be done, and nobody waited for.
 *
 * @throws UserError when they do not end within ten seconds
 */
export async function holdEvents(tx: Db): Promise<void> {
  await tx.query(sql`set local idle_in_transaction_session_timeout = '5s'`);
  await tx.query(sql`set local lock_timeout = '10s'`);
  try {
    await tx.query(sql`lock table alert_event in share mode`);
  } catch (error) {
    if ((error as { code?: string }).code !== "55P03") throw error;
    throw new UserError(
      "somebody has been writing alert events for ten seconds, usually the engine's tick, and nothing was changed: try again",
      { cause: error },
    );
  }
}
