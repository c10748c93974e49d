/**
 * The programs of the service as `server/cli/` composes them, without settings, signals and health ports. Each
 * start runs in a process of its own.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { endLease, sendHeartbeat, startVenueLease } from "../probe/venue-lease.js";
import { openSpool, type Spool } from "../probe/delivery/spool.js";
import { startProbe, type Probe } from "../probe/probe.js";
import { startWeb } from "../server/web/web.js";
import { migrate } from "../server/database/migrate.js";
import { recordSamples } from "../server/database/record-samples.js";
import { openCorePools, startCore } from "../server/core/core.js";
import type { Decided, Refused } from "../server/core/engine/tick.js";
import { openPool, type Pool } from "../shared/database/pool.js";
import { makeLog } from "../shared/log/log.js";
import type { Sample } from "../shared/measurement/sample.js";
import { watchedVenues } from "../shared/registry/chain-venues.js";
import type { Registry } from "../shared/registry/registry.js";

const version = "0.0.0";
const siteUrl = "https://status.example";
const migrateAgainMs = 5_000;
export const channelKey = Buffer.alloc(32, 5);

export interface ProgramOptions {
  databaseUrl: string;
  /** Receives the lines of the program's log. */
  write: (line: string) => void;
}

export interface ProbeProgramOptions extends ProgramOptions {
  registry: Registry;
  region: string;
  /** On the simulated disk. */
  dataDir: string;
  /** Fingerprint of its machine. */
  machine: string;
  /** Called with each sample that the probe has taken. */
  onTaken: (sample: Sample) => void;
  /** Called with each batch that the database has acknowledged. */
  onAcknowledged: (samples: readonly Sample[]) => void;
}

export interface ProbeProgram {
  probe: Probe;
  close: () => Promise<void>;
}

/** As server/cli/probe.ts. */
export async function startProbeProgram(options: ProbeProgramOptions): Promise<ProbeProgram> {
  const { databaseUrl, registry, region, dataDir, machine, onTaken, onAcknowledged, write } = options;
  const log = makeLog(`probe ${region}`, "info", write, { withoutDatabase: "the probe keeps measuring" });
  const pool = openPool(databaseUrl, { applicationName: `probe ${region}`, log, max: 2, statementTimeoutMs: 30_000 });
  const startedAt = new Date();
  const known = watchedVenues(registry).map(({ id }) => id);
  const spool = watchedSpool(await openSpool({ directory: `${dataDir}/spool/${region}`, log }), onTaken);
  const probe = startProbe({
    ...{ registry, region, spool, version, siteUrl, log, venues: [] },
    async record(samples) {
      const recorded = await recordSamples(pool, region, samples);
      const unknown = new Set(recorded.unknown);
      if (recorded.refused === 0) onAcknowledged(samples.filter((sample) => !unknown.has(sample)));
      return recorded;
    },
  });
  const lease = startVenueLease({
    keep(mayTakeOver) {
      const { unmeasured, troubles, clock } = probe.status();
      const report = { region, process: spool.process, version, startedAt, unmeasured, troubles, clock, known };
      return sendHeartbeat(pool, { ...report, vantage: null, machine }, mayTakeOver);
    },
    leave: () => endLease(pool, region, spool.process),
    watch: probe.watch,
    allVenues: known,
    log,
  });
  return {
    probe,
    async close() {
      await lease.close();
      await probe.close();
      await pool.close();
    },
  };
}

function watchedSpool(spool: Spool, onTaken: (sample: Sample) => void): Spool {
  return {
    ...spool,
    add(sample) {
      onTaken(sample);
      spool.add(sample);
    },
  };
}

export interface CoreProgramOptions extends ProgramOptions {
  /** Called with each instant that it has decided, and with the fence of its lease. */
  onDecided: (instant: Date, fence: number) => void;
  /** Called when it has claimed alerts; it sends them afterwards. */
  onClaimed: () => Promise<void>;
}

/** As server/cli/core.ts. Its decisions and claims of alerts are watched. */
export function startCoreProgram(options: CoreProgramOptions): { close: () => Promise<void> } {
  const { databaseUrl, write, onDecided, onClaimed } = options;
  const log = makeLog("core", "info", write, { withoutDatabase: "the engine and alerts pause" });
  const closings: (() => unknown)[] = [];
  const onClose = (_name: string, close: () => unknown) => void closings.unshift(close);
  const pools = openCorePools(databaseUrl, log, onClose);
  const noteDecision = (rows: unknown[], values: readonly unknown[]) => {
    const [{ decided }] = rows as [{ decided: Decided | Refused }];
    const [instant, , , , , fence] = values as [Date, ...unknown[]];
    if (!("refused" in decided)) onDecided(instant, fence as number);
  };
  const onClaim = (rows: unknown[]) => (rows.length > 0 ? onClaimed() : undefined);
  startCore({
    pools: {
      ...pools,
      engine: watched(pools.engine, "tick", noteDecision),
      alerts: watched(pools.alerts, "claim_deliveries", onClaim),
    },
    ...{ address: { baseUrl: siteUrl, siteUrl }, channelKey, allowLoopback: true, version, log, onClose },
  });
  return {
    async close() {
      for (const close of closings) await close();
    },
  };
}

export interface WebProgramOptions extends ProgramOptions {
  registry: Registry;
  port: number;
}

/** As server/cli/web.ts. */
export async function startWebProgram({ databaseUrl, registry, port, write }: WebProgramOptions) {
  const log = makeLog("web", "info", write, { withoutDatabase: "requests that need it get 503 until it is back" });
  const pool = openPool(databaseUrl, { applicationName: "web", log, statementTimeoutMs: 10_000, readOnly: true });
  const web = await startWeb({
    ...{ registry, log, port, host: "0.0.0.0", rateLimit: 0, trustProxy: [], baseUrl: siteUrl, siteUrl },
    ...{ pool, clockTrustedMs: 50, heldMs: 30_000 },
  });
  return {
    async close() {
      await web.close();
      await pool.close();
    },
  };
}

export interface MigrationOptions extends ProgramOptions {
  registry: Registry;
  /** The SQL files of the build that migrates. */
  sqlFolder: URL;
  /** SQL that runs after the migration. */
  definitions?: string | undefined;
}

/** As server/cli/migrate.ts, repeated until it succeeds. */
export async function migrateUntilDone({ databaseUrl, registry, sqlFolder, definitions, write }: MigrationOptions) {
  const log = makeLog("migrate", "info", write);
  for (;;) {
    const pool = openPool(databaseUrl, { applicationName: "migrate", log, max: 2 });
    try {
      await migrate(pool, registry, log, sqlFolder);
      if (definitions !== undefined) await pool.script(definitions);
      return;
    } catch (error) {
      log.warn("the migration failed; repeating it", { error });
    } finally {
      await pool.close();
    }
    await sleep(migrateAgainMs);
  }
}

/** Waits for `then` after each answer to a statement of that file. */
function watched(pool: Pool, file: string, then: (rows: unknown[], values: readonly unknown[]) => unknown): Pool {
  return {
    ...pool,
    async file<Row>(name: string, values: readonly unknown[] = []) {
      const rows = await pool.file<Row>(name, values);
      if (name === file) await then(rows, values);
      return rows;
    },
  };
}
