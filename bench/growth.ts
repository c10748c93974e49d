/**
 * Measures how a data directory of the embedded database grows under load. It plays GROWTH_HOURS of the registry's
 * venues from three regions in accelerated time: every sample arrives in a batch as in production, the engine decides
 * every instant, and core's own upkeep runs at its own pace in that time. GROWTH_PER_S sets the samples per second
 * instead of the registry's cadences; copies of its venues make up the rate.
 *
 * An hour of accelerated time takes minutes. The directory is largest two hours after a midnight that ends sixteen
 * hours of minutes: these minutes, and 26 hours of components and venues, wait to be compressed. This is every other
 * midnight, such as that before 2026-11-21. GROWTH_TO (an instant, instead of now) and GROWTH_FILLED_HOURS (hours that
 * are filled in quickly before) show that maximum: five hours to 03:20 of such a day, with 22 filled.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { openPool, type Pool, sql } from "../shared/database/pool.js";
import { accepted, tick } from "../server/core/engine/tick.js";
import { makeUpkeep, usualUpkeepPace } from "../server/core/rollups/upkeep.js";
import { migrate } from "../server/database/migrate.js";
import { packagedFile } from "../shared/config/package.js";
import { recordSamples } from "../server/database/record-samples.js";
import { componentsOf } from "../shared/registry/components.js";
import type { Registry } from "../shared/registry/registry.js";
import { loadRegistry } from "../shared/registry/load-registry.js";
import type { Figure } from "./figure.js";
import { keepHistory } from "./history.js";
import { manyComponents } from "./many-components.js";
import { goodSample, log } from "./stage.js";

/** An hour's chunk is compressed two hours after its end, so five hours show the whole cycle. */
const hours = Number(process.env.GROWTH_HOURS ?? 1);
const perSecond = process.env.GROWTH_PER_S ? Number(process.env.GROWTH_PER_S) : null;
const filledHours = Number(process.env.GROWTH_FILLED_HOURS ?? 0);
const stepMs = 2_000;
const sizesAnHour = 12;
const hourMs = 3_600_000;
/** In addition to compressed data. */
const promisedMB = 300;

export async function benchGrowth(): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), "venuewatch-bench-"));
  const host = spawn(process.execPath, [packagedFile("dist/test/support/embedded-process.js"), directory], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = once(host, "exit");
  const [url] = (await once(createInterface(host.stdout), "line")) as [string];
  const pool = openPool(url, { applicationName: "bench", log });
  try {
    const registry = await loadRegistry(packagedFile("registry/exchanges.json"));
    await migrate(pool, registry, log);
    return await grow(pool, registry, directory);
  } finally {
    await pool.close();
    host.kill("SIGTERM");
    await exited;
    await rm(directory, { recursive: true });
  }
}

interface Size {
  all: number;
  wal: number;
  compressed: number;
}

async function grow(pool: Pool, registry: Registry, directory: string): Promise<Figure[]> {
  const series = await measuredSeries(pool, registry);
  const { GROWTH_TO } = process.env;
  const endMs = GROWTH_TO ? Date.parse(GROWTH_TO) : Date.now();
  const toMs = Math.floor(endMs / stepMs) * stepMs;
  const fromMs = toMs - hours * hourMs;
  const atStart = await sizeOf(pool, directory);
  if (filledHours > 0) await keepHistory(pool, fromMs - filledHours * hourMs, new Date(fromMs));
  const sizes: Size[] = [];
  const samples = await work(pool, registry, series, fromMs, toMs, async (atMs) => {
    if ((atMs - fromMs) % (hourMs / sizesAnHour) === 0) sizes.push(await sizeOf(pool, directory));
  });
  const last = await sizeOf(pool, directory);
  sizes.push(last);
  const room = ({ all, compressed }: Size) => all - compressed;
  const most = sizes.reduce((a, b) => (room(b) > room(a) ? b : a));
  const hourBefore = sizes.at(-1 - sizesAnHour) ?? atStart;
  return [
    { what: `samples in ${hours} hours`, value: samples / 1e6, unit: "million" },
    { what: "a new directory", value: atStart.all, unit: "MB" },
    {
      what: "the directory when it was largest",
      value: most.all,
      unit: "MB",
      floor: {
        value: promisedMB + most.compressed,
        what: "promised: 300 MB plus compressed data",
      },
    },
    { what: "its largest write-ahead log", value: Math.max(...sizes.map(({ wal }) => wal)), unit: "MB" },
    {
      what: "growth in the last hour",
      value: last.all - hourBefore.all,
      unit: "MB",
    },
    { what: "compressed at the end", value: last.compressed, unit: "MB" },
  ];
}

/**
 * Does the work of probes and core for that time: every sample arrives in a batch as in production, the engine decides
 * every instant, and upkeep runs at its own pace.
 *
 * @returns the number of samples
 */
export async function work(
  pool: Pool,
  registry: Registry,
  series: readonly Series[],
  fromMs: number,
  toMs: number,
  afterStep: (atMs: number) => Promise<void> = () => Promise.resolve(),
): Promise<number> {
  let atMs = fromMs;
  const upkeep = makeUpkeep(pool, log, usualUpkeepPace, undefined, {
    now: () => Promise.resolve(new Date(atMs)),
    passedMs: () => atMs - fromMs,
  });
  let samples = 0;
  for (; atMs < toMs; atMs += stepMs) {
    for (const { id: region } of registry.regions) {
      const due = series.flatMap(({ venue, component, cadenceMs, phaseMs }) => {
        const slotMs = Math.ceil((atMs - stepMs - phaseMs) / cadenceMs) * cadenceMs + phaseMs;
        return slotMs < atMs ? [goodSample(venue, component, new Date(slotMs))] : [];
      });
      for (let i = 0; i < due.length; i += 1000)
        samples += (await recordSamples(pool, region, due.slice(i, i + 1000))).stored;
    }
    accepted(await tick(pool, new Date(atMs), { fromScratch: atMs === fromMs }));
    await upkeep.doWhatIsDue(() => true);
    await afterStep(atMs);
  }
  return samples;
}

interface Series {
  venue: string;
  component: string;
  cadenceMs: number;
  /** The offset of its slots, since probes spread them. */
  phaseMs: number;
}

export async function measuredSeries(pool: Pool, registry: Registry): Promise<Series[]> {
  const cadenceMs = 5_000;
  const own = registry.venues.flatMap((venue) =>
    componentsOf(venue).map(({ id, cadenceMs }) => ({
      venue: venue.id,
      component: id,
      cadenceMs,
    })),
  );
  const many =
    perSecond &&
    (await manyComponents({ pool, registry }, Math.ceil((perSecond * cadenceMs) / 1000 / registry.regions.length)));
  const series = many ? many.map(([venue, component]) => ({ venue, component, cadenceMs })) : own;
  return series.map((one, i) => ({
    ...one,
    phaseMs: (i * 777) % one.cadenceMs,
  }));
}

async function sizeOf(pool: Pool, directory: string): Promise<Size> {
  const [row] = await pool.query<{ bytes: number | null }>(sql`
    select sum(on_disk.total_bytes)::bigint as bytes
    from (select distinct hypertable_schema, hypertable_name from timescaledb_information.chunks where is_compressed) h
    cross join lateral chunks_detailed_size(format('%I.%I', h.hypertable_schema, h.hypertable_name)::regclass) on_disk
    join timescaledb_information.chunks c using (chunk_schema, chunk_name)
    where c.is_compressed
  `);
  return {
    all: await diskMB(directory),
    wal: await diskMB(join(directory, "pgdata/pg_wal")),
    compressed: (row!.bytes ?? 0) / 1e6,
  };
}

/** Returns the disk usage that the file system reports. */
async function diskMB(path: string): Promise<number> {
  const { stdout } = await promisify(execFile)("du", ["-sk", path]);
  return (parseInt(stdout) * 1024) / 1e6;
}
