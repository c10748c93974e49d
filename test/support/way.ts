/**
 * The whole system with its real parts: the world's fifteen venues, a probe for each of three regions, the database,
 * the engine and the web program. Only its times are shorter, so that an outage takes seconds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Test } from "tap";
import { startProbe, type Probe } from "../../probe/probe.js";
import { startWeb } from "../../server/web/web.js";
import { type Pool, sql } from "../../shared/database/pool.js";
import { rulesRow } from "../../shared/rules/engine-rules.js";
import { analyzeGrown } from "../../server/core/rollups/upkeep.js";
import { accepted, tick, type Decided } from "../../server/core/engine/tick.js";
import { makeLog } from "../../shared/log/log.js";
import { migrate } from "../../server/database/migrate.js";
import { recordSamples } from "../../server/database/record-samples.js";
import { componentsOf as allComponentsOf } from "../../shared/registry/components.js";
import type { Registry } from "../../shared/registry/registry.js";
import { migratedDatabase } from "./database.js";
import { someSpool } from "./spool.js";
import { startWorld, type World, type WorldOptions } from "../../world/world.js";

/** The cadence of every component, unless a test asks for a slower one. */
const usualCadenceMs = 1000;
/** More than a busy machine may be late. */
const staleAfterMs = 10_000;
const betweenTicksMs = 250;
/** Upkeep runs every second or two. At every tick it took a sixth of the processor, or more. */
const ticksBetweenUpkeep = 4;
/** Speeds up the venues' pings and data. */
const timeScale = 5;
/** Every stream sends at this rate: otherwise some would be silent for longer than the shortened threshold. */
const messagesPerMinute = 60;

/** The rules for a cadence: six samples in the window, so that a single bad one decides nothing. */
const quickRules = (cadenceMs: number) => ({
  ...rulesRow,
  window_ms: 6 * cadenceMs,
  vote_max_age_ms: 5 * cadenceMs,
  // a busy machine fails now and then for some seconds, but not in every six seconds of a minute
  partial_windows: 10,
  recovery_hold_ms: 2 * cadenceMs,
  // a relapse takes four seconds to show
  flap_hold_ms: 10 * cadenceMs,
});

const quiet = makeLog("test", "error");

export interface Way {
  world: World;
  registry: Registry;
  pool: Pool;
  probes: Probe[];
  /** Address of the web program. */
  url: string;
  engine: Engine;
}

export interface Engine {
  /** The result of each tick, in order. */
  decided: Decided[];
  /** Resolves after this many further ticks. */
  ticks: (more: number) => Promise<void>;
  close: () => Promise<void>;
}

export interface WayOptions extends Pick<WorldOptions, "aged" | "faults" | "players"> {
  /** Default: `registry/exchanges.json`. */
  registry?: Registry;
  /** These venues of it; by default all, which take twice the time of eight. */
  only?: string[];
  /** Default: a second. With many venues, a busy machine is late by that much while all of them start. */
  cadenceMs?: number;
  /** The machine of each region's probes. Default: unknown, so that each region is a place of its own. */
  machines?: Record<string, string>;
  /** Called after each tick of the engine. */
  onTick?: (pool: Pool) => Promise<void>;
}

/** Everything is closed when the test ends. */
export async function startWay(t: Test, options: WayOptions = {}): Promise<Way> {
  const { machines = {}, onTick, only, cadenceMs, ...ofWorld } = options;
  const { pool, registry: packaged } = await migratedDatabase(t);
  const whole = options.registry ?? packaged;
  const real = { ...whole, venues: whole.venues.filter(({ id }) => only?.includes(id) ?? true) };
  const world = await startWorld({ ...ofWorld, registry: withSteadyStreams(real), timeScale });
  t.teardown(() => world.close());
  const registry = quickened(world.registry, cadenceMs);
  await migrate(pool, registry, quiet);
  await recordMachines(pool, machines);
  const web = await startWeb({
    ...{ pool, registry, log: quiet, port: 0, host: "127.0.0.1", rateLimit: 0, trustProxy: [] },
    ...{ baseUrl: "http://127.0.0.1", siteUrl: "http://localhost" },
  });
  t.teardown(() => web.close());
  const engine = startEngine(pool, onTick, cadenceMs);
  t.teardown(() => engine.close());
  const probes = await Promise.all(registry.regions.map(({ id }) => startRegion(t, pool, registry, id)));
  t.teardown(() => Promise.all(probes.map((probe) => probe.close())));
  const url = `http://127.0.0.1:${web.port}`;
  return { world, registry, pool, probes, url, engine };
}

/** As heartbeats would, which these probes do not send. */
async function recordMachines(pool: Pool, machines: Record<string, string>): Promise<void> {
  await pool.query(sql`
    insert into region_vantage (region_id, holds_from, machine)
    select g.region_id, '-infinity', m.value
    from jsonb_each_text(${JSON.stringify(machines)}::jsonb) m
    join region g on g.region = m.key
  `);
}

/** @returns `venue component` strings; of all of REST where the component is `rest:*` */
export function componentsOf(registry: Registry, id: string, component: string): string[] {
  const venue = registry.venues.find((one) => one.id === id)!;
  const ids = allComponentsOf(venue).map(({ id }) => id);
  return ids.filter((one) => [one, one.replace(/:.*/, ":*")].includes(component)).map((one) => `${id} ${one}`);
}

function withSteadyStreams(registry: Registry): Registry {
  const steady = structuredClone(registry);
  const streams = steady.venues.flatMap(({ socket }) => socket?.streams ?? []);
  for (const stream of streams) stream.typicalPerMinute = messagesPerMinute;
  return steady;
}

/** The registry with the times of these tests. */
export function quickened(registry: Registry, cadenceMs = usualCadenceMs): Registry {
  const quick = structuredClone(registry);
  for (const { rest, socket } of quick.venues) {
    for (const endpoint of rest) Object.assign(endpoint, { cadenceMs, timeoutMs: 0.9 * cadenceMs });
    for (const stream of socket?.streams ?? []) {
      Object.assign(stream, { cadenceMs, stall: { afterMs: 1.5 * cadenceMs, distribution: null } });
      if (stream.eventTime) stream.staleAfterMs = staleAfterMs;
    }
  }
  return quick;
}

export async function startRegion(t: Test, pool: Pool, registry: Registry, region: string): Promise<Probe> {
  return startProbe({
    ...{ registry, region, version: "1.2.3", siteUrl: "http://localhost", log: quiet },
    spool: await someSpool(t),
    record: (samples) => recordSamples(pool, region, samples),
  });
}

/** Does core's work at every tick, at a quicker pace. */
export function startEngine(
  pool: Pool,
  onTick: (pool: Pool) => Promise<void> = () => Promise.resolve(),
  cadenceMs = usualCadenceMs,
): Engine {
  const decided: Decided[] = [];
  const stopping = new AbortController();
  let passed = 0;

  async function run() {
    while (!stopping.signal.aborted) {
      const [{ at } = { at: new Date() }] = await pool.query<{ at: Date }>(
        sql`select date_trunc('milliseconds', clock_timestamp()) as at`,
      );
      if (passed % ticksBetweenUpkeep === 0) {
        await pool.query(sql`call upkeep.refresh_newest(${at})`);
        await pool.query(sql`call upkeep.refresh_open_buckets(${at}, true)`);
        await analyzeGrown(pool);
      }
      decided.push(accepted(await tick(pool, at, { rules: quickRules(cadenceMs) })));
      await onTick(pool);
      passed += 1;
      await sleep(betweenTicksMs);
    }
  }
  const running = run();
  // callers that wait for ticks, and the end, wait for it and see its error
  running.catch(() => {});

  return {
    decided,
    async ticks(more) {
      const goal = passed + more;
      while (passed < goal) await Promise.race([running, sleep(10)]);
    },
    async close() {
      stopping.abort();
      await running;
    },
  };
}
