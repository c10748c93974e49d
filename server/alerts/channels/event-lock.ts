import { type Db, sql } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";

/**
 * Blocks writes of alert events until the transaction ends. It waits first for the engine's current tick and for
 * dispatchers that are expanding events, so this transaction sees all earlier events, and later events see its changes.
 *
 * The engine is blocked meanwhile: keep the transaction short, and wait for nothing in it.
 *
 * @throws UserError when the current writers do not end in time
 */
export async function holdEvents(tx: Db, withinMs = 10_000): Promise<void> {
  await tx.query(sql`select set_config('lock_timeout', ${`${withinMs}ms`}, true)`);
  try {
    await tx.query(sql`lock table alert_event in share mode`);
  } catch (error) {
    if ((error as { code?: string }).code !== "55P03") throw error;
    throw new UserError(
      `alert events were locked by a writer, usually the engine, for ${withinMs / 1000} s; nothing was changed, try again`,
      { cause: error },
    );
  }
}
