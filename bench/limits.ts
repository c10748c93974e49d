/**
 * Counts what the probes of three regions on one address ask of each origin, at the simulated venues of
 * `registry/exchanges.json`, beside the limits of the real ones. MINUTES=10. It fails if more than half of a limit is
 * used.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSpool } from "../probe/delivery/spool.js";
import { startProbe, type Probe } from "../probe/probe.js";
import { packagedFile } from "../shared/config/package.js";
import { limitUses, type LimitUse } from "../shared/registry/cadence.js";
import { loadRegistry } from "../shared/registry/load-registry.js";
import type { Registry } from "../shared/registry/registry.js";
import { startWorld } from "../world/world.js";
import type { Figure } from "./figure.js";
import { log } from "./stage.js";

const minutes = Number(process.env.MINUTES ?? 10);
const minuteMs = 60_000;
/** Time for all probes to start. */
const startMs = 5_000;

export async function benchLimits(): Promise<Figure[]> {
  const file = packagedFile("registry/exchanges.json");
  const { regions } = await loadRegistry(file);
  const registry = await loadRegistry(file, regions.length);
  const askedMs = await requestsOf(registry);
  return limitUses(registry, regions.length).flatMap((use) => figuresOf(registry, use, askedMs));
}

/** When each endpoint was asked, `venue rest:name`, milliseconds since the counting began. */
type Asked = ReadonlyMap<string, number[]>;

async function requestsOf(registry: Registry): Promise<Asked> {
  const asked = new Map<string, number[]>();
  let beganMs = Infinity;
  const world = await startWorld({
    registry,
    // streams are not counted
    messagesPerMinuteCap: 30,
    onRequest({ venue, component }) {
      const atMs = performance.now() - beganMs;
      if (atMs < 0 || atMs >= minutes * minuteMs) return;
      const name = `${venue} ${component}`;
      asked.set(name, [...(asked.get(name) ?? []), atMs]);
    },
  });
  const directory = await mkdtemp(join(tmpdir(), "venuewatch-bench-"));
  const probes: Probe[] = [];
  try {
    for (const { id } of registry.regions) probes.push(await startRegion(world.registry, id, join(directory, id)));
    await sleep(startMs);
    beganMs = performance.now();
    await sleep(minutes * minuteMs);
  } finally {
    await Promise.all(probes.map((probe) => probe.close()));
    await world.close();
    await rm(directory, { recursive: true });
  }
  return asked;
}

async function startRegion(registry: Registry, region: string, directory: string): Promise<Probe> {
  return startProbe({
    ...{ registry, region, log, version: "bench", siteUrl: "http://localhost" },
    spool: await openSpool({ directory, log }),
    record: (batch) => Promise.resolve({ stored: batch.length, duplicates: 0, refused: 0 }),
  });
}

function figuresOf({ venues }: Registry, use: LimitUse, asked: Asked): Figure[] {
  const { limit, allPerMinute, limitPerMinute, usablePerMinute } = use;
  const names = venues.flatMap(({ id, rest }) =>
    rest
      .filter(({ url }) => new URL(url).origin === new URL(limit.origin).origin)
      .filter(({ name }) => !limit.endpoints || (id === use.venue && limit.endpoints.includes(name)))
      .map(({ name }) => `${id} rest:${name}`),
  );
  const atMs = names.flatMap((name) => asked.get(name) ?? []).sort((a, b) => a - b);
  const perMinute = atMs.length / minutes;
  const what = `${new URL(limit.origin).host}${limit.endpoints ? ` ${limit.endpoints.join(", ")}` : ""}`;
  if (perMinute > usablePerMinute) {
    console.error(`${what}: expected at most ${usablePerMinute} requests a minute, got ${perMinute}`);
    process.exitCode = 1;
  }
  const mean = { what: `${what}: a minute, mean of ${minutes}`, value: perMinute, unit: "requests" };
  const burst = {
    what: `${what}: most in ${limit.periodMs / 1000} s`,
    value: mostWithin(limit.periodMs, atMs),
    unit: "requests",
    floor: { value: limit.requests, what: "the limit" },
  };
  return [
    { ...mean, floor: { value: allPerMinute, what: "expected of the cadences" } },
    { ...mean, floor: { value: usablePerMinute, what: `half of the limit, ${limitPerMinute}` } },
    // of a longer period, only a part was measured
    ...(limit.periodMs <= minutes * minuteMs ? [burst] : []),
  ];
}

/** @param atMs in order */
function mostWithin(periodMs: number, atMs: readonly number[]): number {
  let from = 0;
  return atMs.reduce((most, ms, place) => {
    while (atMs[from]! <= ms - periodMs) from += 1;
    return Math.max(most, place - from + 1);
  }, 0);
}
