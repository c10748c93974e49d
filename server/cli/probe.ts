import { join } from "node:path";
import { openSpool } from "../../probe/delivery/spool.js";
import { thisMachine } from "../../probe/network/machine.js";
import { makeProbeMetrics } from "../../probe/probe-metrics.js";
import { startProbe } from "../../probe/probe.js";
import { endLease, sendHeartbeat, startVenueLease, type VenueLease } from "../../probe/venue-lease.js";
import { version } from "../../shared/config/package.js";
import { databaseUrlOf, readSettings } from "../../shared/config/settings.js";
import { openPool, warnUnlessReachable } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { makeOwnMetrics } from "../../shared/log/own-metrics.js";
import { UserError } from "../../shared/process/user-error.js";
import { watchedVenues } from "../../shared/registry/chain-venues.js";
import { withCredentials } from "../../shared/registry/credentials.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { type Registry } from "../../shared/registry/registry.js";
import { recordSamples } from "../database/record-samples.js";
import { type Readiness, startHealth } from "../process/health.js";
import { runUntilStopped } from "../process/lifecycle.js";
import { portsOf, requirePorts } from "../process/ports.js";

export const help = `Measures the venues of the registry from REGION, and delivers the samples to the database. While
it is unreachable, the probe keeps measuring, and stores the samples in DATA_DIR until it is back. Several probes of one
region divide its venues among themselves; when one dies, the others take over its venues within twelve seconds.`;

/** About a second's samples of the largest registry; if more wait, the database does not accept them. */
const maxWaitingWhenReady = 2_000;

/**
 * A batch takes milliseconds. Without a limit, one on a server that vanished would wait until TCP gives up, a quarter
 * of an hour. A timeout that comes too early loses nothing: a batch may be sent twice.
 */
const statementTimeoutMs = 30_000;

export async function run(): Promise<void> {
  const settings = readSettings();
  const registry = withCredentials(await loadRegistry(settings.registry, settings.probesPerAddress ?? 1));
  const region = knownRegion(settings.region, registry);
  const log = makeLog(`probe ${region}`, settings.logLevel, undefined, {
    withoutDatabase: "the probe keeps measuring, and stores samples on disk until it is back",
  });
  await runUntilStopped(log, async (life) => {
    await requirePorts(portsOf(settings, "probe"));
    const url = databaseUrlOf(settings);
    const pool = openPool(url, {
      applicationName: `probe ${region}`,
      log,
      max: 2,
      statementTimeoutMs,
    });
    life.onClose("database connections", pool.close);
    await warnUnlessReachable(pool, url, log);
    const { fingerprint: machine, source } = await thisMachine();
    log.info("probes on the same machine are one vantage", { machine, source });
    const startedAt = new Date();
    const known = watchedVenues(registry).map(({ id }) => id);
    let keeper: VenueLease | null = null;
    const metrics = makeOwnMetrics("probe", { region });
    const meter = makeProbeMetrics(metrics, startedAt, () => ({
      ...probe.status(),
      renewedAt: keeper?.renewedAt() ?? null,
    }));
    const spool = await openSpool({
      directory: join(settings.dataDir, "spool", region),
      log,
    });
    const probe = startProbe({
      registry,
      region,
      spool,
      version,
      siteUrl: settings.siteUrl,
      record: meter.timed((samples) => recordSamples(pool, region, samples)),
      onTurn: meter.slotBegun,
      // none until the first venue lease
      venues: [],
      log,
    });
    life.onClose("measuring", probe.close);
    const health = await startHealth({
      service: "probe",
      port: settings.healthPort.probe,
      host: settings.healthHost,
      ready: () => Promise.resolve(readinessOfProbe(probe.status().waiting)),
      metrics,
      log,
    });
    life.onClose("health", health.close);
    // last, so that a probe that fails to start takes no venue from others
    keeper = startVenueLease({
      keep(mayTakeOver) {
        const { unmeasured, troubles, clock } = probe.status();
        return sendHeartbeat(
          pool,
          {
            ...{ region, process: spool.process, version, startedAt },
            ...{ unmeasured, troubles, clock, known },
            ...{ vantage: settings.vantage, machine },
          },
          mayTakeOver,
        );
      },
      leave: () => endLease(pool, region, spool.process),
      watch: probe.watch,
      allVenues: known,
      log,
    });
    life.onClose("share of the venues", keeper.close);
    return health.url;
  });
}

function readinessOfProbe(waiting: number): Readiness {
  const ok = waiting < maxWaitingWhenReady;
  const detail = `${waiting} samples wait for the database`;
  return { ready: ok, checks: { shipping: { ok, detail } } };
}

function knownRegion(region: string | null, { regions }: Registry): string {
  const ids = regions.map(({ id }) => id);
  if (region !== null && ids.includes(region)) return region;
  throw new UserError(
    `REGION: expected a region of the registry, ${ids.join(", ")}, got ${region ?? "none"}; set REGION`,
  );
}
