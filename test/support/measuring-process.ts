/** Measures a registry until it has enough slots, and prints the results: `node … OPTIONS`. */
import { execSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProbe } from "../../probe/probe.js";
import { openSpool } from "../../probe/delivery/spool.js";
import { makeLog } from "../../shared/log/log.js";
import type { Registry } from "../../shared/registry/registry.js";
import type { Fault } from "../../shared/measurement/sample.js";
import { until } from "./until.js";

export interface MeasuringOptions {
  registry: Registry;
  /** The number of slots to wait for, measured or not. */
  slots: number;
  /** Commands to run on its machine after that, in order, and the number of further slots after each. */
  then?: { command: string; slots: number }[];
}

/** Printed as JSON. */
export interface Measured {
  good: number;
  faults: (Fault | null)[];
  unmeasured: Record<string, number>;
  troubles: { kind: string; detail: string }[];
}

const { registry, slots, then = [] } = JSON.parse(process.argv[2]!) as MeasuringOptions;
const measured: Measured = { good: 0, faults: [], unmeasured: {}, troubles: [] };
const log = makeLog("test", "error");
const directory = await mkdtemp(join(tmpdir(), "venuewatch-spool-"));
const spool = await openSpool({ directory, log });
const probe = startProbe({
  ...{ registry, region: registry.regions[0]!.id, spool, version: "1.2.3", siteUrl: "http://localhost", log },
  record(samples) {
    for (const { good, fault } of samples)
      if (good) measured.good += 1;
      else measured.faults.push(fault);
    return Promise.resolve({ stored: samples.length, duplicates: 0, refused: 0 });
  },
});
const unmeasuredSlots = () => Object.values(probe.status().unmeasured).reduce((sum, one) => sum + one, 0);
const slotsSeen = () => probe.status().taken + unmeasuredSlots();
let wanted = slots;
await until(() => slotsSeen() >= wanted, 60_000);
for (const { command, slots: more } of then) {
  execSync(command, { stdio: "inherit" });
  wanted = slotsSeen() + more;
  await until(() => slotsSeen() >= wanted, 60_000);
}
measured.troubles = probe.status().troubles;
await probe.close();
await rm(directory, { recursive: true });
measured.unmeasured = probe.status().unmeasured;
console.log(JSON.stringify(measured));
