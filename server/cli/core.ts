import { setTimeout as sleep } from "node:timers/promises";
import { version } from "../../shared/config/package.js";
import { databaseUrlOf, readSettings } from "../../shared/config/settings.js";
import { countsAsAway } from "../../shared/database/fault.js";
import { openPool, type Pool, warnUnlessReachable } from "../../shared/database/pool.js";
import { type Log, makeLog } from "../../shared/log/log.js";
import { makeOutage } from "../../shared/log/outage.js";
import { makeOwnMetrics, queryAtScrape } from "../../shared/log/own-metrics.js";
import { startDispatcher } from "../core/alerts/dispatcher.js";
import { formatAlert } from "../core/alerts/formats/format-alert.js";
import { makeAlertMetrics } from "../core/alerts/alert-metrics.js";
import { makePoster } from "../core/alerts/post.js";
import { makeSealing } from "../core/alerts/sealing.js";
import { startKeepingAddress } from "../core/alerts/service-address.js";
import { makeBackupMetrics, type ServerDisk } from "../core/backup-metrics.js";
import { startCore } from "../core/engine/leader.js";
import { makeEngineMetrics } from "../core/metrics.js";
import { makeNoticesMetrics, makePolling } from "../core/notices/polling.js";
import { makeFeedReader } from "../core/notices/reader.js";
import { definitionsFault, schemaState } from "../database/schema-state.js";
import { readiness, startHealth } from "../process/health.js";
import { runUntilStopped } from "../process/lifecycle.js";
import { portsOf, requirePorts } from "../process/ports.js";

export const help = `Runs the engine, the upkeep, the notices poller and the dispatcher of alerts. Several may run: one
is the leader, and another takes over when it dies. All of them send alerts.`;

/**
 * The longest statements, compressing or rolling up a late day, took six seconds. Without a limit, one on a server that
 * vanished would wait until TCP gives up, a quarter of an hour.
 */
const statementTimeoutMs = 120_000;

/**
 * On the embedded database a renewal of the lease waits for the current statement; the longest took six seconds.
 */
const renewalTimeoutMs = 15_000;

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
    const pool = openPool(url, {
      applicationName: "core",
      log,
      statementTimeoutMs,
    });
    life.onClose("database connections", pool.close);
    // core also starts without a database, with a warning: no program that starts beside it can keep it from starting
    await warnUnlessReachable(pool, url, log);
    const leasePool = openPool(url, {
      applicationName: "core lease",
      log,
      max: 1,
      statementTimeoutMs: renewalTimeoutMs,
    });
    life.onClose("connection of the lease", leasePool.close);
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
    const reader = makeFeedReader({
      userAgent: `venuewatch/${version} (+${settings.siteUrl}; notices)`,
    });
    life.onClose("connections to feeds", reader.close);
    // separate, so that the notices poller takes no connection from the engine
    const noticesPool = openPool(url, {
      applicationName: "core notices",
      log,
      max: 2,
      statementTimeoutMs,
    });
    life.onClose("connections of the notices", noticesPool.close);
    const polling = makePolling({
      db: noticesPool,
      reader,
      log,
      metrics: makeNoticesMetrics(metrics),
    });
    const poster = makePoster({ allowLoopback: settings.alertLoopback });
    life.onClose("connections to receivers", poster.close);
    // separate, so that neither a storm of alerts nor the engine makes the other wait for a connection
    const alertsPool = openPool(url, {
      applicationName: "core alerts",
      log,
      max: 1,
      statementTimeoutMs,
      // a core that stalls in a transaction must not block the outbox for the others
      idleInTransactionMs: 5_000,
    });
    life.onClose("connection of the alerts", alertsPool.close);
    const { channelKey, baseUrl } = settings;
    const userAgent = `venuewatch/${version} (+${settings.siteUrl}; alerts)`;
    const dispatcher = startDispatcher({
      db: alertsPool,
      poster,
      sealing: channelKey && makeSealing(channelKey),
      write: (to, alert, sent) => formatAlert(to, alert, { ...sent, baseUrl, userAgent }),
      log,
      metrics: makeAlertMetrics(metrics, readinessPool, log, channelKey !== null),
    });
    life.onClose("alerts", dispatcher.close);
    const keepingAddress = startKeepingAddress(pool, settings, log);
    life.onClose("the service's address", keepingAddress.end);
    const serverDisk = queryAtScrape(() => readinessPool.file<ServerDisk>("server_disk"), log);
    makeBackupMetrics(metrics, serverDisk, settings.baseBackups, log);
    const core = startCore({
      pool,
      leasePool,
      log,
      metrics: makeEngineMetrics(metrics, readinessPool, log),
      readNextFeed: (signal) => polling.readNext(signal),
      onAlert: dispatcher.wake,
    });
    life.onClose("engine", core.close);
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
