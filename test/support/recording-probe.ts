import type { Test } from "tap";
import { startProbe, type ProbeOptions } from "../../probe/probe.js";
import { makeLog } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import type { Registry } from "../../shared/registry/registry.js";
import { someSpool } from "./spool.js";

interface Options extends Partial<Omit<ProbeOptions, "record">> {
  /** Whether the database is away. */
  isAway?: () => boolean;
}

/** Starts a probe that measures a registry until the test ends, and keeps its samples in memory. */
export async function startRecordingProbe(t: Test, registry: Registry, { isAway, ...more }: Options = {}) {
  const samples: Sample[] = [];
  const probe = startProbe({
    ...{ registry, region: "eu-central", version: "0.1.0", siteUrl: "http://localhost" },
    spool: await someSpool(t),
    log: makeLog("test", "error", () => {}),
    record(batch) {
      if (isAway?.()) return Promise.reject(new Error("the database is away"));
      samples.push(...batch);
      return Promise.resolve({ stored: batch.length, duplicates: 0, refused: 0 });
    },
    ...more,
  });
  t.teardown(() => probe.close());
  /** The samples of a component, by slot. */
  const of = (component: string, from = new Date(0)) =>
    samples.filter((one) => one.component === component && one.slotAt >= from).sort((a, b) => +a.slotAt - +b.slotAt);
  return { probe, samples, of };
}
