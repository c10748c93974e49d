import { setTimeout as sleep } from "node:timers/promises";
import { countsAsAway } from "../../shared/database/away.js";
import type { Pool } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { makeOutage } from "../../shared/log/outage.js";
import { schemaState } from "./schema-state.js";

const words = {
  begins: "waiting for the migration: tables of this build are missing; run venuewatch migrate",
  lasts: "still waiting for the migration",
  over: "the database is migrated",
};

/**
 * Waits until the database has all tables of this build, however long that takes. A program that started before its
 * migration would otherwise log each of its statements as an error.
 */
export async function untilMigrated(pool: Pool, log: Log): Promise<void> {
  const waiting = makeOutage(log, words, { level: "warn" });
  for (;;) {
    try {
      const { missing } = await schemaState(pool);
      if (missing.length === 0) break;
      waiting.failed("checks of the schema", { missing: missing.join(", ") });
    } catch (error) {
      if (!countsAsAway(log, "checks of the schema", error)) throw error;
    }
    await sleep(1_000);
  }
  waiting.succeeded();
}
