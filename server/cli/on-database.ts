import { databaseUrlOf, readSettings, type Settings } from "../../shared/config/settings.js";
import { databaseFault } from "../../shared/database/fault.js";
import { connect, type Pool } from "../../shared/database/pool.js";
import { type Log, makeLog } from "../../shared/log/log.js";
import { type Life, runToEnd } from "../process/lifecycle.js";

/** What a task gets. */
export interface OnDatabase {
  pool: Pool;
  settings: Settings;
  log: Log;
  life: Life;
}

/**
 * An operator's statements take milliseconds, and wait at most for a tick. Without a limit, one on a server that
 * vanished would wait for a quarter of an hour.
 */
const statementTimeoutMs = 30_000;

/**
 * A command that is stopped in a transaction, or whose machine is gone, must not block the engine and the dispatchers.
 */
const idleInTransactionMs = 5_000;

/**
 * Runs an operator's task on one connection to the database, and exits.
 *
 * @param name of the command, for the log
 * @param task may throw errors of the database: those that the user can correct become a UserError
 */
export async function runOnDatabase(name: string, task: (here: OnDatabase) => Promise<void>): Promise<never> {
  const settings = readSettings();
  const log = makeLog(name, settings.logLevel);
  return runToEnd(log, async (life) => {
    const url = databaseUrlOf(settings);
    const pool = await connect(url, {
      applicationName: name,
      log,
      max: 1,
      statementTimeoutMs,
      idleInTransactionMs,
    });
    life.onClose("database connection", pool.close);
    await task({ pool, settings, log, life }).catch((error: unknown) => {
      throw databaseFault(error, url) ?? error;
    });
  });
}
