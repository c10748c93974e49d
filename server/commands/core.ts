import { startDispatcher } from "../alerts/delivery/dispatcher.js";
import { formatAlert } from "../alerts/formats/format-alert.js";
import { makeAlertMetrics } from "../alerts/delivery/metrics.js";
import { makePoster } from "../alerts/delivery/post.js";
import { makeSealing } from "../alerts/channels/sealing.js";
import { startKeepingAddress } from "../alerts/channels/service-address.js";
import { connect, openPool } from "../../shared/database/pool.js";
import { startCore } from "../engine/core.js";
import { makeEngineMetrics } from "../engine/metrics.js";
import { startHealth } from "../health/health.js";
import { runUntilStopped } from "../process/lifecycle.js";
import { makeLog } from "../../shared/log/log.js";
import { makeNoticesMetrics } from "../notices/metrics.js";
import { makePolling } from "../notices/polling.js";
import { makeFeedReader } from "../notices/reader.js";
import { makeOwnMetrics } from "../../shared/log/own-metrics.js";
import { version } from "../../shared/config/package.js";
import { portsOf, requirePorts } from "../process/ports.js";
import { readiness } from "../health/readiness.js";
import { databaseUrlOf, readSettings } from "../../shared/config/settings.js";

export const help = `Runs the engine and the upkeep of the history, reads the venues' own feeds, and sends alerts to channels.
Several may run: one leads, and another takes over when it dies; all of them send alerts.`;

/**
 * The longest that is asked, compressing or rolling up a late day, took six seconds. On a server that vanished without
 * a word a turn would wait for as long as the system sends its packets again, a quarter of an hour.
 */
const statementTimeoutMs = 120_000;

/**
 * On the embedded database a renewal waits for the statement that is under way, of which the longest took six seconds.
 */
const renewalTimeoutMs = 15_000;

/** Readiness is told within five seconds: what has not answered by then is of no use to anybody. */
const readinessTimeoutMs = 5_000;

export async function run(): Promise<void> {
  const settings = readSettings();
  const log = makeLog("core", settings.logLevel, undefined, {
    withoutDatabase: "nothing is decided and no alert is sent until it is back; then what was missed is caught up on",
  });
  await runUntilStopped(log, async (life) => {
    await requirePorts(portsOf(settings, "core"));
    const url = databaseUrlOf(settings);
    const pool = await connect(url, {
      applicationName: "core",
      log,
      statementTimeoutMs,
    });
    life.onClose("database connections", pool.close);
    const leasePool = openPool(url, {
      applicationName: "core lease",
      log,
      max: 1,
      statementTimeoutMs: renewalTimeoutMs,
    });
    life.onClose("connection of the lease", leasePool.close);
    // apart, so that whoever asks how it goes takes no connection from the engine
    const readinessPool = openPool(url, {
      applicationName: "core readiness",
      log,
      max: 1,
      statementTimeoutMs: readinessTimeoutMs,
    });
    life.onClose("readiness connection", readinessPool.close);
    const metrics = makeOwnMetrics("core");
    const reader = makeFeedReader({
      userAgent: `venuewatch/${version} (+${settings.siteUrl}; notices)`,
    });
    life.onClose("connections to feeds", reader.close);
    // apart, so that what it keeps takes no connection from the engine
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
    // apart, so that neither a storm of alerts nor the engine keeps the other waiting for a connection
    const alertsPool = openPool(url, {
      applicationName: "core alerts",
      log,
      max: 1,
      statementTimeoutMs,
      // a core that stands still in the middle must not keep the outbox from the others
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
    const core = startCore({
      pool,
      leasePool,
      log,
      metrics: makeEngineMetrics(metrics, readinessPool, log),
      readNextFeed: (signal) => polling.readNext(signal),
      onAlert: dispatcher.wake,
    });
    life.onClose("engine", core.close);
    const health = await startHealth({
      service: "core",
      port: settings.healthPort.core,
      host: settings.healthHost,
      ready: () => readiness(readinessPool),
      metrics,
      log,
    });
    life.onClose("health", health.close);
    return health.url;
  });
}
