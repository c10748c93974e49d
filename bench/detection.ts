/**
 * Measures how soon a hard fault that all regions see is an open incident: from its first bad slot until another
 * connection can read the incident, with core at its usual pace. Samples arrive as from probes: a refused connection at
 * once, a hanging one after its timeout.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { openPool, sql } from "../shared/database/pool.js";
import { startEngine } from "../server/core/engine/leader.js";
import { recordSamples } from "../server/database/record-samples.js";
import type { Fault, Sample } from "../shared/measurement/sample.js";
import { type Figure, spreadOf } from "./figure.js";
import { goodSample, log, openStage, type Stage } from "./stage.js";

const cadenceMs = 5_000;
const timeoutMs = 4_500;
const promisedMs = 16_000;
const goodSlots = 6;
const badSlots = 6;

export async function benchDetection(): Promise<Figure[]> {
  const stage = await openStage();
  const leasePool = openPool(stage.url, {
    applicationName: "bench lease",
    log,
    max: 1,
  });
  const core = startEngine({ pool: stage.pool, leasePool, log });
  try {
    // each run's slots begin at another point within the engine's step
    const runs = stage.registry.venues.map((venue, nth): Run => ({
      venue: venue.id,
      fault: nth % 3 === 0 ? "timeout" : "connect",
      phaseMs: Math.floor(((nth + 0.5) * cadenceMs) / stage.registry.venues.length),
    }));
    const tookMs = await Promise.all(runs.map(async (run) => ({ ...run, tookMs: await detect(stage, run) })));
    return (["connect", "timeout"] as const).flatMap((fault): Figure[] => {
      const times = tookMs.filter((one) => one.fault === fault).map((one) => one.tookMs);
      const what =
        fault === "connect"
          ? "a refused connection is an open incident"
          : `an endpoint that hangs (known after ${timeoutMs / 1000} s) is one`;
      const floor = { value: promisedMs, what: "promised of a hard fault" };
      return [
        {
          what: `${what}, p50 of ${times.length}`,
          value: spreadOf(times).p50,
          unit: "ms",
          floor,
        },
        {
          what: `${what}, at the latest`,
          value: Math.max(...times),
          unit: "ms",
          floor,
        },
      ];
    });
  } finally {
    await core.close();
    await leasePool.close();
    await stage.close();
  }
}

interface Run {
  venue: string;
  fault: Fault;
  phaseMs: number;
}

/**
 * Records one ticker live: first good slots, then bad ones. Returns the milliseconds from the first bad slot until its
 * incident can be read.
 */
async function detect(stage: Stage, { venue, fault, phaseMs }: Run) {
  const beganMs = Math.ceil(Date.now() / cadenceMs) * cadenceMs + phaseMs;
  const firstBadMs = beganMs + goodSlots * cadenceMs;
  const measuring = stage.registry.regions.map(async ({ id: region }) => {
    for (let slot = 0; slot < goodSlots + badSlots; slot++) {
      const slotMs = beganMs + slot * cadenceMs;
      const bad = slot >= goodSlots;
      const knownMs = slotMs + (bad && fault === "timeout" ? timeoutMs : 100);
      await sleep(Math.max(0, knownMs - Date.now()));
      const sample = goodSample(venue, "rest:ticker", new Date(slotMs));
      await record(stage, region, bad ? { ...sample, good: false, fault, latencyUs: null } : sample);
    }
  });
  const openedMs = await firstOpenMs(stage, venue, firstBadMs);
  await Promise.all(measuring);
  return openedMs - firstBadMs;
}

async function record({ pool }: Stage, region: string, sample: Sample) {
  await recordSamples(pool, region, [sample]);
}

async function firstOpenMs({ pool }: Stage, venue: string, fromMs: number) {
  await sleep(Math.max(0, fromMs - Date.now()));
  for (;;) {
    const [open] = await pool.query(sql`
      select from incident join component using (component_id) join venue using (venue_id) where venue = ${venue}
    `);
    if (open) return Date.now();
    if (Date.now() - fromMs > 60_000) throw new Error(`no incident of ${venue} opened`);
    await sleep(50);
  }
}
