import { brandOf, databaseUrlOf, readSettings } from "../../shared/config/settings.js";
import { openPool, warnUnlessReachable } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { makeOwnMetrics, queryAtScrape } from "../../shared/log/own-metrics.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { replicaState } from "../database/replica.js";
import { readiness, startHealth } from "../process/health.js";
import { runUntilStopped } from "../process/lifecycle.js";
import { portsOf, requirePorts } from "../process/ports.js";
import { makeReplicaMetrics, makeWebMetrics, startWeb } from "../web/web.js";

export const help = `Serves the public API at PORT, and its own health at HEALTH_PORT. It only reads the database, from
DATABASE_READ_URL if set; /readyz then reports the replica's lag, and is not ready when it exceeds half a minute.`;

/** A page that takes longer is aborted: its reader has given up long before. */
const statementTimeoutMs = 10_000;

/**
 * A fortieth of the time between two ticks, and a hundredth of the five seconds for which caches may keep a body.
 */
export const clockTrustedMs = 50;

/**
 * The oldest body that is served while the database is busy: as long as caches may serve one stale. No single statement
 * of ours occupies the embedded database that long.
 */
const heldMs = 30_000;

export async function run(): Promise<void> {
  const settings = readSettings();
  const brand = brandOf(settings);
  const log = makeLog("web", settings.logLevel, undefined, {
    withoutDatabase: "requests that need it get 503 until it is back",
  });
  await runUntilStopped(log, async (life) => {
    const registry = await loadRegistry(settings.registry, settings.probesPerAddress ?? 1);
    await requirePorts(portsOf(settings, "web"));
    const ofReplica = settings.databaseReadUrl !== null;
    const url = settings.databaseReadUrl ?? databaseUrlOf(settings);
    const pool = openPool(url, {
      applicationName: "web",
      log,
      statementTimeoutMs,
      readOnly: ofReplica,
    });
    life.onClose("database connections", pool.close);
    // web also starts without a database, with a warning: /healthz must answer, and the database may come later
    await warnUnlessReachable(pool, url, log, ofReplica ? "DATABASE_READ_URL" : "DATABASE_URL");
    const metrics = makeOwnMetrics("web");
    const onAnswered = makeWebMetrics(metrics);
    if (ofReplica)
      makeReplicaMetrics(
        metrics,
        queryAtScrape(async () => [await replicaState(pool)], log),
      );
    const web = await startWeb({
      ...settings,
      brand,
      pool,
      ofReplica,
      registry,
      log,
      onAnswered,
      clockTrustedMs,
      heldMs,
    });
    life.onClose("web server", web.close);
    const health = await startHealth({
      service: "web",
      port: settings.healthPort.web,
      host: settings.healthHost,
      ready: () => readiness(pool, ofReplica),
      metrics,
      log,
    });
    life.onClose("health", health.close);
    log.info("health and own metrics", { address: health.url });
    return web.url;
  });
}
