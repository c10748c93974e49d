/** A probe as the program has it, with a shorter lease: `node probe-process.js DATABASE_URL OPTIONS`. */
import { startKeeper } from "../probe/keeper.js";
import { startProbe } from "../probe/probe.js";
import { openSpool } from "../probe/spool.js";
import { openPool } from "../server/db.js";
import { makeLog } from "../server/log.js";
import { recordSamples } from "../server/record-samples.js";
import type { Registry } from "../server/registry.js";
import { keepWatch, leaveWatch } from "../server/watch.js";

export interface ProbeProcessOptions {
  registry: Registry;
  region: string;
  leaseMs: number;
  /** Of the region's spools. */
  directory: string;
}

const [url, given] = process.argv.slice(2) as [string, string];
const { registry, region, leaseMs, directory } = JSON.parse(
  given,
) as ProbeProcessOptions;
const log = makeLog(`probe ${process.pid}`, "error");
const pool = openPool(url, {
  applicationName: "probe",
  log,
  max: 2,
  statementTimeoutMs: 2_000,
});
const spool = await openSpool({ directory, log });
const identity = {
  region,
  process: spool.process,
  version: "1.2.3",
  startedAt: new Date(),
};
const probe = await startProbe({
  registry,
  region,
  spool,
  version: identity.version,
  siteUrl: "http://localhost",
  record: (samples) => recordSamples(pool, region, samples),
  venues: [],
  log,
});
const keeper = startKeeper({
  keep(mayTakeOver) {
    const { unmeasured, troubles, clock } = probe.status();
    const known = registry.venues.map(({ id }) => id);
    const report = { ...identity, unmeasured, troubles, clock, known };
    return keepWatch(pool, report, mayTakeOver, leaseMs);
  },
  leave: () => leaveWatch(pool, region, identity.process),
  watch: probe.watch,
  allVenues: registry.venues.map(({ id }) => id),
  log,
  leaseMs,
});
process.on("SIGTERM", () => {
  void keeper
    .close()
    .then(probe.close)
    .then(pool.close)
    .then(() => process.exit());
});
