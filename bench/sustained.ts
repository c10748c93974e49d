/**
 * Measures how many samples per second are recorded for a whole minute through the real spools and shippers of three
 * regions, while upkeep refreshes the roll-ups at core's pace. The components are those of the registry, copied until
 * their cadences make up the rate. When processor time is short, samples wait in the spools, so the number still
 * waiting at the end shows whether the rate was sustained.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startShip } from "../probe/delivery/ship.js";
import { openSpool } from "../probe/delivery/spool.js";
import { sql } from "../shared/database/pool.js";
import { makeUpkeep, usualUpkeepPace } from "../server/core/rollups/upkeep.js";
import { recordSamples } from "../server/database/record-samples.js";
import type { Figure } from "./figure.js";
import { manyComponents } from "./many-components.js";
import { goodSample, log, openStage, type Stage } from "./stage.js";

const isServer = Boolean(process.env.DATABASE_URL);
/** The promised rate. */
const perSecond = isServer ? 20_000 : 5_000;
const forMs = Number(process.env.SUSTAIN_S ?? 60) * 1000;
/** The cadence of every component, which is that of most components in the registry. */
const cadenceMs = 5_000;

export async function benchSustained(): Promise<Figure[]> {
  const stage = await openStage();
  try {
    return await sustain(stage);
  } finally {
    await stage.close();
  }
}

async function sustain(stage: Stage): Promise<Figure[]> {
  const { pool, registry } = stage;
  const regions = registry.regions.map(({ id }) => id);
  const batchMs: number[] = [];
  const directory = await mkdtemp(join(tmpdir(), "venuewatch-bench-spool-"));
  const components = await manyComponents(stage, Math.ceil((perSecond * cadenceMs) / 1000 / regions.length));
  const probes = await Promise.all(
    regions.map(async (region) => {
      const spool = await openSpool({
        directory: join(directory, region),
        log,
      });
      const ship = startShip({
        spool,
        log,
        async record(samples) {
          const startMs = performance.now();
          const recorded = await recordSamples(pool, region, samples);
          batchMs.push(performance.now() - startMs);
          return recorded;
        },
      });
      return ship;
    }),
  );
  const stopping = new AbortController();
  const upkeep = makeUpkeep(pool, log, usualUpkeepPace);
  let refreshes = 0;
  const keeping = (async () => {
    while (!stopping.signal.aborted) {
      const waitMs = await upkeep.doWhatIsDue(() => !stopping.signal.aborted);
      refreshes += 1;
      await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();

  const startMs = performance.now();
  const fromMs = Date.now();
  let given = 0;
  for (;;) {
    const passedMs = Math.min(performance.now() - startMs, forMs);
    const due = Math.floor((passedMs * perSecond) / 1000 / regions.length);
    for (; given < due; given += 1) {
      const [venue, component] = components[given % components.length]!;
      const turn = Math.floor(given / components.length);
      const at = (given % components.length) / components.length;
      const slotAt = new Date(fromMs + Math.floor((turn + at) * cadenceMs));
      for (const ship of probes) ship.add(goodSample(venue, component, slotAt));
    }
    if (passedMs >= forMs) break;
    await sleep(10);
  }
  const shipped = sum(probes.map((ship) => ship.status().shipped));
  const waiting = sum(probes.map((ship) => ship.status().waiting));
  const refreshesInTime = refreshes;
  for (const ship of probes) await ship.close(60_000);
  stopping.abort();
  await keeping;
  const [row] = await pool.query<{ samples: number }>(sql`select count(*)::int as samples from sample`);
  await rm(directory, { recursive: true });
  const all = given * regions.length;
  if (row!.samples !== all) throw new Error(`expected ${all} samples, found ${row!.samples}`);
  batchMs.sort((a, b) => a - b);
  const what = isServer ? "a server" : "the embedded database";
  return [
    {
      what: `samples recorded over ${forMs / 1000} s on ${what}, with ${refreshesInTime} turns of upkeep`,
      value: (shipped * 1000) / forMs,
      unit: "samples/s",
      floor: { value: perSecond, what: "promised, sustained" },
    },
    {
      what: "waiting in the spools at the end",
      value: waiting,
      unit: "samples",
      floor: { value: perSecond, what: "what is measured in a second" },
    },
    {
      what: "a batch, p99",
      value: batchMs[Math.floor(0.99 * batchMs.length)]!,
      unit: "ms",
    },
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
