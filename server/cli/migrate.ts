import { brandOf, databaseUrlOf, readSettings } from "../../shared/config/settings.js";
import { connect } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { ageAdvice, ageSentences, agesOf } from "../../shared/registry/entry-age.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { migrate } from "../database/migrate.js";
import { runToEnd } from "../process/lifecycle.js";

export const help = `Creates or upgrades the database schema of this build: applies missing schema files, recreates
functions and views, and writes the registry's venues. It is safe to repeat, and to run twice at the same time. It warns
of entries of the registry that may no longer be true.`;

export async function run(): Promise<void> {
  const settings = readSettings();
  // refused here, before web is restarted and stays down
  brandOf(settings);
  const log = makeLog("migrate", settings.logLevel);
  await runToEnd(log, async (life) => {
    const registry = await loadRegistry(settings.registry, settings.probesPerAddress ?? 1);
    // only here: every start of the service and every upgrade runs this command once, but the other programs several
    // times
    const ages = ageSentences(agesOf(registry, new Date()));
    if (ages.length > 0)
      log.warn(`entries of the registry may no longer be true: ${ages.join("; ")}`, { advice: ageAdvice });
    const pool = await connect(databaseUrlOf(settings), {
      applicationName: "migrate",
      log,
    });
    life.onClose("database connections", pool.close);
    await migrate(pool, registry, log);
    log.info("the schema is up to date", { venues: registry.venues.length });
  });
}
