import { connect } from "../db.js";
import { startCore } from "../engine/core.js";
import { startHealth } from "../health.js";
import { runUntilStopped } from "../lifecycle.js";
import { makeLog } from "../log.js";
import { readiness } from "../readiness.js";
import { databaseUrlOf, readSettings } from "../settings.js";

export const help = `Runs the engine and the upkeep of the history. Several may run: one leads, and another takes over when it dies.`;

export async function run(): Promise<void> {
  const settings = readSettings();
  const log = makeLog("core", settings.logLevel);
  await runUntilStopped(log, async (life) => {
    const pool = await connect(databaseUrlOf(settings), {
      applicationName: "core",
      log,
    });
    life.onClose("database connections", pool.close);
    const core = startCore(pool, log);
    life.onClose("engine", core.close);
    const health = await startHealth({
      service: "core",
      port: settings.healthPort,
      ready: () => readiness(pool),
      log,
    });
    life.onClose("health", health.close);
    return health.url;
  });
}
