/**
 * The probe as the program runs it, with a shorter lease: `node probe-process.js DATABASE_URL OPTIONS`. Prints
 * `measured KEY` for each sample that its schedule produces, and `kept KEY` when the spool has confirmed that it is on
 * disk.
 */
import { endLease, sendHeartbeat, startVenueLease } from "../../probe/venue-lease.js";
import { startProbe } from "../../probe/probe.js";
import { openSpool } from "../../probe/delivery/spool.js";
import { openPool } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { recordSamples } from "../../server/database/record-samples.js";
import type { Registry } from "../../shared/registry/registry.js";
import type { Sample } from "../../shared/measurement/sample.js";

export interface ProbeProcessOptions {
  registry: Registry;
  region: string;
  leaseMs: number;
  /** The directory of the region's spools. */
  directory: string;
}

const [url, given] = process.argv.slice(2) as [string, string];
const { registry, region, leaseMs, directory } = JSON.parse(given) as ProbeProcessOptions;
const log = makeLog(`probe ${process.pid}`, "error");
const pool = openPool(url, { applicationName: "probe", log, max: 2, statementTimeoutMs: 2_000 });
const spool = await openSpool({ directory, log });
const identity = { region, process: spool.process, version: "1.2.3", startedAt: new Date() };
const probe = startProbe({
  ...{ registry, region, log, version: identity.version, siteUrl: "http://localhost", venues: [] },
  spool: { ...spool, add },
  record: (samples) => recordSamples(pool, region, samples),
});
const keeper = startVenueLease({
  keep(mayTakeOver) {
    const { unmeasured, troubles, clock } = probe.status();
    const known = registry.venues.map(({ id }) => id);
    const report = { ...identity, unmeasured, troubles, clock, known, vantage: null, machine: null };
    return sendHeartbeat(pool, report, mayTakeOver, leaseMs);
  },
  leave: () => endLease(pool, region, identity.process),
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

function add(sample: Sample): void {
  const key = `${sample.venue} ${sample.component} ${+sample.slotAt}`;
  process.stdout.write(`measured ${key}\n`);
  spool.add(sample);
  void spool.flush().then((isKept) => {
    if (isKept) process.stdout.write(`kept ${key}\n`);
  });
}
