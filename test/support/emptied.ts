/** Empties a test's database for the next test of the file: another database would take most of a second to open. */
import { syncRegistry } from "../../server/database/sync-registry.js";
import type { TestDatabase } from "./database.js";
import { forget } from "./fleet.js";

/** Removes measurements, incidents, notices and probes, and names everything as the registry does. */
export async function emptied(database: TestDatabase): Promise<TestDatabase> {
  const { pool, registry } = database;
  await forget(pool);
  await pool.script(`
    truncate outlier, unjudged, notice_change, notice, feed_poll, probe, shown_probe, venue_lease, region_vantage
      restart identity
  `);
  await syncRegistry(pool, registry);
  return database;
}
