import { setTimeout as sleep } from "node:timers/promises";
import { version } from "../../shared/config/package.js";
import { databaseUrlOf, readSettings } from "../../shared/config/settings.js";
import { countsAsAway } from "../../shared/database/fault.js";
import { openPool, type Pool, warnUnlessReachable } from "../../shared/database/pool.js";
import { type Log, makeLog } from "../../shared/log/log.js";
import { makeOutage } from "../../shared/log/outage.js";
import { makeOwnMetrics, queryAtScrape } from "../../shared/log/own-metrics.js";
import { makeBackupMetrics, type ServerDisk } from "../core/backup-metrics.js";
import { openCorePools, startCore } from "../core/core.js";
import { definitionsFault, schemaState } from "../database/schema-state.js";
import { readiness, startHealth } from "../process/health.js";
import { runUntilStopped } from "../process/lifecycle.js";
import { portsOf, requirePorts } from "../process/ports.js";

export const help = `Runs the engine, the upkeep, the notices poller and the dispatcher of alerts. Several may run: one
is the leader, and another takes over when it dies. All of them send alerts.`;

/** Readiness is answered within five seconds; a later result is of no use. */
const readinessTimeoutMs = 5_000;

export async function run(): Promise<void> {
  const settings = readSettings();
  const log = makeLog("core", settings.logLevel, undefined, {
    withoutDatabase: "the engine and alerts pause until it is back, then core catches up",
  });
  await runUntilStopped(log, async (life) => {
    await requirePorts(portsOf(settings, "core"));
    const url = databaseUrlOf(settings);
    const pools = openCorePools(url, log, life.onClose);
    // core also starts without a database, with a warning: no program that starts beside it can keep it from starting
    await warnUnlessReachable(pools.engine, url, log);
    // separate, so that readiness checks take no connection from the engine
    const readinessPool = openPool(url, {
      applicationName: "core readiness",
      log,
      max: 1,
      statementTimeoutMs: readinessTimeoutMs,
    });
    life.onClose("readiness connection", readinessPool.close);
    const metrics = makeOwnMetrics("core");
    const health = await startHealth({
      service: "core",
      port: settings.healthPort.core,
      host: settings.healthHost,
      ready: () => readiness(readinessPool),
      metrics,
      log,
    });
    life.onClose("health", health.close);
    await untilMigrated(readinessPool, log);
    const serverDisk = queryAtScrape(() => readinessPool.file<ServerDisk>("server_disk"), log);
    makeBackupMetrics(metrics, serverDisk, settings.baseBackups, log);
    startCore({
      pools,
      address: settings,
      channelKey: settings.channelKey,
      allowLoopback: settings.alertLoopback,
      version,
      log,
      exported: { metrics, pool: readinessPool },
      onClose: life.onClose,
    });
    return health.url;
  });
}

const migrationWords = {
  begins: "waiting for the migration: the database does not have this build's schema; run venuewatch migrate",
  lasts: "still waiting for the migration",
  over: "the database is migrated",
};

/**
 * Waits until the database has all tables, views and functions of this build, however long that takes. A program that
 * started before its migration would otherwise log each of its statements as an error.
 */
async function untilMigrated(pool: Pool, log: Log): Promise<void> {
  const waiting = makeOutage(log, migrationWords, { level: "warn" });
  for (;;) {
    try {
      const { missing, unknown } = await schemaState(pool);
      const fault = missing.length > 0 ? `lacks ${missing.join(", ")}` : await definitionsFault(pool);
      // an older build goes on with a newer database, and reports that it is not ready
      if (fault === null || unknown.length > 0) break;
      waiting.failed("checks of the schema", { fault });
    } catch (error) {
      if (!countsAsAway(log, "checks of the schema", error)) throw error;
    }
    await sleep(1_000);
  }
  waiting.succeeded();
}
