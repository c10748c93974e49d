/** Probes that keep their samples in memory. */
import type { Test } from "tap";
import { startProbe, type ProbeOptions } from "../../probe/probe.js";
import { makeLog } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import type { Registry, Venue } from "../../shared/registry/registry.js";
import { startWorld, type WorldOptions } from "../../world/world.js";
import { someSpool } from "./spool.js";

const registry = await loadRegistry("registry/all.json");

type Options = Partial<Omit<ProbeOptions, "record">>;

/** Starts a probe that measures a registry until the test ends. */
export async function startRecordingProbe(t: Test, registry: Registry, more: Options = {}) {
  const samples: Sample[] = [];
  const probe = startProbe({
    ...{ registry, region: "eu-central", version: "0.1.0", siteUrl: "http://localhost" },
    spool: await someSpool(t),
    log: makeLog("test", "error", () => {}),
    record(batch) {
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

/** Starts a simulated world, and a probe that measures it. */
export async function probeWorld(t: Test, options: WorldOptions, more: Options = {}) {
  const world = await startWorld(options);
  t.teardown(() => world.close());
  return { world, ...(await startRecordingProbe(t, world.registry, more)) };
}

export function areGood(samples: readonly Sample[]): boolean {
  return samples.every(({ good }) => good);
}

/** Venues of the registry, measured twice a second. */
export function quickly(ids: readonly string[], change: (venue: Venue) => void = () => {}): Registry {
  const venues = structuredClone(registry.venues.filter(({ id }) => ids.includes(id)));
  for (const venue of venues) {
    for (const component of [...venue.rest, ...(venue.socket?.streams ?? [])]) component.cadenceMs = 500;
    change(venue);
  }
  return { ...registry, venues };
}
