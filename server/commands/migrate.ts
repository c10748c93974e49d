import { connect } from "../../shared/database/pool.js";
import { runToEnd } from "../process/lifecycle.js";
import { makeLog } from "../../shared/log/log.js";
import { migrate } from "../database/migrate.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { databaseUrlOf, readSettings } from "../../shared/config/settings.js";

export const help = `Creates or upgrades the database schema of this build: applies missing schema files, recreates
functions and views, and writes the registry's venues. It is safe to repeat, and to run twice at the same time.`;

export async function run(): Promise<void> {
  const settings = readSettings();
  const log = makeLog("migrate", settings.logLevel);
  await runToEnd(log, async (life) => {
    const registry = await loadRegistry(settings.registry, settings.probesPerAddress ?? 1);
    const pool = await connect(databaseUrlOf(settings), {
      applicationName: "migrate",
      log,
    });
    life.onClose("database connections", pool.close);
    await migrate(pool, registry, log);
    log.info("the schema is up to date", { venues: registry.venues.length });
  });
}
