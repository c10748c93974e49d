/**
 * The whole service on simulated machines: probes of several regions, cores, the database, venues and receivers of
 * alerts. Each program can be killed and is started again by its supervisor.
 */
import { addChannel } from "../server/alerts/channels/add-channel.js";
import { credentialOf } from "../server/alerts/channels/credential.js";
import { makeSealing } from "../server/alerts/channels/sealing.js";
import { openPool, type Pool } from "../shared/database/pool.js";
import { makeLog } from "../shared/log/log.js";
import type { Registry } from "../shared/registry/registry.js";
import { openSimulatedDatabase, type SimulatedDatabase } from "./database.js";
import { keyOf, makeLedger, type Ledger, type Resources } from "./ledger.js";
import type { Network } from "./network/network.js";
import { copyPreparedDatabase } from "./prepared-database.js";
import { makeOperator, type Operator, restartInTurn, writeTwoBuilds } from "./operator.js";
import {
  channelKey,
  migrateUntilDone,
  startCoreProgram,
  startProbeProgram,
  startWebProgram,
  type ProbeProgram,
} from "./programs.js";
import { readForever, webPort } from "./reader.js";
import { type Channel, type ChannelFilter, startReceivers } from "./receivers.js";
import type { SeededRandom } from "./seeded-random.js";
import { noteStates } from "./states.js";
import { drawStatusPage, officialEntry, serveStatusPage, type StatusPage } from "./status-page.js";
import { type FaultyServer, startFaultyServer, supervise, type Supervised } from "./supervised.js";
import { startSimulatedVenue, venueEntry } from "./venue.js";
import type { Machine, VirtualTime } from "./virtual-time.js";

export interface ClusterShape {
  regions: number;
  probesPerRegion: number;
  venues: number;
  /** How many of the venues have a status page. */
  statusPages: number;
  cores: number;
  webs: number;
  channels: number;
  cadenceMs: number;
}

export interface Probe extends Supervised {
  region: string;
  program: () => ProbeProgram | null;
}

export interface Cluster {
  /** At the start. */
  registry: Registry;
  /** After the first migration: with one more venue. */
  largerRegistry: Registry;
  ledger: Ledger;
  database: SimulatedDatabase;
  probes: readonly Probe[];
  cores: readonly Supervised[];
  webs: readonly Supervised[];
  operator: Operator;
  /** Of venues, and of their status pages. */
  servers: ReadonlyMap<string, FaultyServer>;
  statusPages: readonly StatusPage[];
  machines: readonly Machine[];
  channels: readonly Channel[];
  /** True time. */
  startMs: number;
  nowMs: () => number;
  resourcesOf: (program: Supervised) => Resources;
  /** Runs statements on a machine without faults, as time passes. */
  ask: <Result>(work: (pool: Pool) => Promise<Result>) => Promise<Result>;
  close: () => Promise<void>;
}

interface Surroundings {
  time: VirtualTime;
  random: SeededRandom;
  network: Network;
  /** Receives every log line of every program. */
  write: (line: string) => void;
  /** Replaces functions of the database, in SQL. */
  definitions?: string | undefined;
}

const receiverPort = 9000;
const channelFilters: readonly ChannelFilter[] = [
  { floor: "degraded", venues: null },
  { floor: "outage", venues: null },
  { floor: "degraded", venues: ["venue-1", "venue-2"] },
];

/** All programs run by then, and no fault comes earlier. */
const startedAfterMs = 50_000;

export async function startCluster(shape: ClusterShape, around: Surroundings): Promise<Cluster> {
  const { time, random, network, write, definitions } = around;
  const registry = registryOf(shape);
  const largerRegistry = registryOf({ ...shape, venues: shape.venues + 1 });
  let currentRegistry = registry;
  const ledger = makeLedger();
  const machines: Machine[] = [];
  const clocks = random.branch("clocks");
  const makeMachine = (name: string, isExact = false): Machine => {
    const clock = { errorMs: 600 * (clocks.next() - 0.5), rate: 1 + 2e-4 * (clocks.next() - 0.5) };
    const machine = { name, clock: isExact ? { errorMs: 0, rate: 1 } : clock };
    machines.push(machine);
    network.name(`${name}.machine`, machine);
    return machine;
  };
  const directory = await copyPreparedDatabase(registry);
  const builds = await writeTwoBuilds(directory);
  const log = makeLog("database", "warn", write);
  const database = await openSimulatedDatabase({
    ...{ time, random: random.branch("database"), log },
    ...{ machine: makeMachine("database", true), host: "database.machine", directory: `${directory}/pgdata` },
  });
  database.start();
  const databaseUrl = database.url;

  const venueServers = largerRegistry.venues.map(({ id }) => {
    const machine = makeMachine(id);
    network.name(`${id}.venue`, machine);
    return startFaultyServer(time, machine, startSimulatedVenue);
  });
  const statusPages = registry.venues
    .filter(({ official }) => official !== null)
    .map(({ id }) => drawStatusPage(id, random.branch(`status page of ${id}`), time.nowMs()));
  const statusServers = statusPages.map((page) =>
    startFaultyServer(time, makeMachine(`${page.venue}-status`), () =>
      serveStatusPage(page, time.nowMs, (path) =>
        ledger.feedRequests.push({ venue: page.venue, path, atMs: time.nowMs() }),
      ),
    ),
  );
  const servers = new Map([...venueServers, ...statusServers].map((server) => [server.name, server]));

  const coreMachines = Array.from({ length: shape.cores }, (_, place) => makeMachine(`core-${place + 1}`));
  const channels = Array.from({ length: shape.channels }, (_, place) => {
    const filter = channelFilters[place % channelFilters.length]!;
    const receivers = { name: `channel-${place + 1}`, filter, port: receiverPort + place };
    return startReceivers(receivers, coreMachines, time, ledger);
  });

  const observer = time.startProcess("observer", makeMachine("observer", true));
  const pool = observer.run(() =>
    openPool(databaseUrl, { applicationName: "observer", log: makeLog("observer", "warn", write), max: 1 }),
  );

  async function ask<Result>(work: (pool: Pool) => Promise<Result>): Promise<Result> {
    let settled: { result: Result } | { error: unknown } | undefined;
    void observer.run(() =>
      work(pool).then(
        (result) => (settled = { result }),
        (error: unknown) => (settled = { error }),
      ),
    );
    await time.pass(time.nowMs() + 600_000, () => settled !== undefined);
    if (settled && "result" in settled) return settled.result;
    throw settled ? settled.error : new Error("the database did not answer the observer within ten minutes");
  }

  if (definitions !== undefined) await ask((pool) => pool.script(definitions));
  for (const [place, { name, floor, venues }] of channels.entries())
    await ask((pool) =>
      addChannel(pool, makeSealing(channelKey), {
        ...{ format: "native", serviceRegion: null, description: name, floor, open: false },
        credential: credentialOf("native", `http://127.0.0.1:${receiverPort + place}/`, true),
        ...{ venues: venues && [...venues], categories: null },
      }),
    );

  const probes = registry.regions.flatMap(({ id: region }) =>
    Array.from({ length: shape.probesPerRegion }, (_, place) => superviseProbe(region, `${region}-${place + 1}`)),
  );
  const cores = coreMachines.map((machine) =>
    supervise(time, machine, () =>
      startCoreProgram({
        ...{ databaseUrl, write },
        onDecided: (instant, fence) => ledger.decisions.push({ core: machine.name, instant, fence }),
      }),
    ),
  );
  const webs = Array.from({ length: shape.webs }, (_, place) =>
    supervise(time, makeMachine(`web-${place + 1}`), () =>
      startWebProgram({ databaseUrl, registry: currentRegistry, port: webPort, write }),
    ),
  );
  const programs = [...probes, ...cores, ...webs];
  for (const program of programs) program.start();
  const resourcesOf = (program: Supervised): Resources => {
    const process = program.process();
    return { pending: process ? time.pending(process) : 0, connections: network.connectionsOf(program.machine) };
  };
  const noteResources = () => programs.forEach((program) => ledger.resources.set(program.name, resourcesOf(program)));
  time.schedule(startedAfterMs, noteResources, null);

  const operator = makeOperator({
    ...{ time, machine: makeMachine("operator") },
    migrate: (number) =>
      migrateUntilDone({
        ...{ databaseUrl, registry: largerRegistry, sqlFolder: builds[number % 2]!, definitions, write },
      }),
    onMigrated() {
      currentRegistry = largerRegistry;
      const rollout = ledger.begin("registry", "rollout", time.nowMs());
      restartInTurn(time, programs, ({ name }) => {
        ledger.begin(name, "down", time.nowMs()).toMs = time.nowMs();
        rollout.toMs = time.nowMs();
      });
    },
  });

  const others = ["/v1/incidents", "/v1/regions", ...largerRegistry.venues.map(({ id }) => `/v1/exchanges/${id}`)];
  const paths = others.flatMap((path) => ["/v1/status", path]);
  for (const { name } of webs)
    void observer.run(() => readForever(`${name}.machine`, paths, (body) => ledger.bodies.push(body)));
  void observer.run(() => noteStates(pool, (states) => ledger.states.push(states)));

  function superviseProbe(region: string, name: string): Probe {
    let program: ProbeProgram | null = null;
    const supervised = supervise(time, makeMachine(name), async () => {
      program = null;
      program = await startProbeProgram({
        ...{ databaseUrl, write, registry: currentRegistry, region, machine: name, dataDir: `/simulated/${name}` },
        onTaken(sample) {
          const key = keyOf(region, sample);
          const takers = ledger.taken.get(key) ?? [];
          ledger.taken.set(key, [...takers, { region, probe: name, sample, atMs: time.nowMs() }]);
        },
        onAcknowledged: (samples) => samples.forEach((sample) => ledger.acknowledged.add(keyOf(region, sample))),
      });
    });
    return { ...supervised, region, program: () => program };
  }

  return {
    ...{ registry, largerRegistry, ledger, database, probes, cores, webs, operator, machines, channels, ask },
    ...{ servers, statusPages },
    startMs: time.nowMs(),
    nowMs: time.nowMs,
    resourcesOf,
    async close() {
      for (const program of [...programs, operator]) program.process()?.kill();
      observer.kill();
      await database.crash();
      await database.close();
    },
  };
}

export function registryOf({ regions, venues, statusPages, cadenceMs }: ClusterShape): Registry {
  return {
    probeIntervalMs: cadenceMs,
    regions: Array.from({ length: regions }, (_, place) => ({
      id: `region-${place + 1}`,
      name: `Region ${place + 1}`,
    })),
    venues: Array.from({ length: venues }, (_, place) => {
      const id = `venue-${place + 1}`;
      return venueEntry(id, cadenceMs, place < statusPages ? officialEntry(id) : null);
    }),
  };
}
