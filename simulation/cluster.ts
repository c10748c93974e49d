/**
 * The whole service on simulated machines, and everything that it works with: the database, venues and their status
 * pages, receivers of alerts, an operator, and readers. Our programs can be killed, and their supervisor starts them
 * again.
 */
import { addChannel } from "../server/core/alerts/channels.js";
import { credentialOf } from "../server/core/alerts/destinations.js";
import { makeSealing } from "../server/core/alerts/sealing.js";
import { makeLog } from "../shared/log/log.js";
import type { Registry } from "../shared/registry/registry.js";
import { openSimulatedDatabase, type SimulatedDatabase } from "./database.js";
import { makeLedger, type Ledger, type Resources } from "./ledger.js";
import type { Network } from "./network/network.js";
import { type Observer, startObserver } from "./observer.js";
import { makeOperator, type Operator, restartInTurn, writeTwoBuilds } from "./operator.js";
import { type Others, startOthers } from "./others.js";
import { copyPreparedDatabase } from "./prepared-database.js";
import { channelKey, migrateUntilDone } from "./programs.js";
import { type Channel, type ChannelFilter, startReceivers } from "./receivers.js";
import type { SeededRandom } from "./seeded-random.js";
import { type Service, superviseService } from "./service.js";
import { type ClusterShape, registryOf } from "./shape.js";
import type { Supervised } from "./supervised.js";
import type { Machine, VirtualTime } from "./virtual-time.js";

export interface Cluster extends Service, Others {
  /** At the start. */
  registry: Registry;
  /** After the first migration: with one more venue. */
  largerRegistry: Registry;
  ledger: Ledger;
  database: SimulatedDatabase;
  operator: Operator;
  machines: readonly Machine[];
  channels: readonly Channel[];
  /** True time. */
  startMs: number;
  nowMs: () => number;
  resourcesOf: (program: Supervised) => Resources;
  ask: Observer["ask"];
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
  { floor: "degraded", venues: ["venue-1", "venue-2"] },
  { floor: "outage", venues: null },
];

/** All programs run by then, and no fault comes earlier. */
const startedAfterMs = 50_000;

export async function startCluster(shape: ClusterShape, around: Surroundings): Promise<Cluster> {
  const { time, random, network, write, definitions } = around;
  const registry = registryOf(shape);
  const largerRegistry = registryOf({ ...shape, venues: shape.venues + 1 });
  let currentRegistry = registry;
  const ledger = makeLedger();
  const { machines, makeMachine } = makeMachines(random.branch("clocks"), network);
  const directory = await copyPreparedDatabase(registry);
  const builds = await writeTwoBuilds(directory);
  const database = await openSimulatedDatabase({
    ...{ time, random: random.branch("database"), log: makeLog("database", "warn", write) },
    ...{ machine: makeMachine("database", true), host: "database.machine", directory: `${directory}/pgdata` },
  });
  database.start();
  const databaseUrl = database.url;

  const coreMachines = Array.from({ length: shape.cores }, (_, place) => makeMachine(`core-${place + 1}`));
  const others = startOthers({ registry, largerRegistry, time, random, network, ledger, makeMachine });
  const channels = startChannels(shape.channels, coreMachines, time, ledger);
  const observer = startObserver({ time, machine: makeMachine("observer", true), databaseUrl, ledger, write });
  const { ask } = observer;
  if (definitions !== undefined) await ask((pool) => pool.script(definitions));
  await addChannels(channels, ask);

  const service = superviseService({
    ...{ shape, time, ledger, databaseUrl, write, coreMachines, makeMachine },
    registry: () => currentRegistry,
  });
  const { probes, cores, webs } = service;
  const programs = [...probes, ...cores, ...webs];
  for (const program of programs) program.start();
  const resourcesOf = (program: Supervised): Resources => {
    const process = program.process();
    return { pending: process ? time.pending(process) : 0, connections: network.connectionsOf(program.machine) };
  };
  const noteResources = () => programs.forEach((program) => ledger.resources.set(program.name, resourcesOf(program)));
  time.schedule(startedAfterMs, noteResources, null);
  observer.watch(webs, largerRegistry);

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
        const period = ledger.begin(name, "restart", time.nowMs());
        return () => (period.toMs = rollout.toMs = time.nowMs());
      });
    },
  });

  return {
    ...{ registry, largerRegistry, ledger, database, probes, cores, webs, operator, machines, channels, ask },
    ...others,
    startMs: time.nowMs(),
    nowMs: time.nowMs,
    resourcesOf,
    async close() {
      for (const program of [...programs, operator]) program.process()?.kill();
      observer.close();
      await database.crash();
      await database.close();
    },
  };
}

function makeMachines(clocks: SeededRandom, network: Network) {
  const machines: Machine[] = [];
  const makeMachine = (name: string, isExact = false): Machine => {
    const clock = { errorMs: 600 * (clocks.next() - 0.5), rate: 1 + 2e-4 * (clocks.next() - 0.5) };
    const machine = { name, clock: isExact ? { errorMs: 0, rate: 1 } : clock };
    machines.push(machine);
    network.name(`${name}.machine`, machine);
    return machine;
  };
  return { machines, makeMachine };
}

function startChannels(count: number, coreMachines: readonly Machine[], time: VirtualTime, ledger: Ledger): Channel[] {
  return Array.from({ length: count }, (_, place) => {
    const filter = channelFilters[place % channelFilters.length]!;
    const receivers = { name: `channel-${place + 1}`, filter, port: receiverPort + place };
    return startReceivers(receivers, coreMachines, time, ledger);
  });
}

async function addChannels(channels: readonly Channel[], ask: Cluster["ask"]): Promise<void> {
  for (const [place, { name, floor, venues }] of channels.entries())
    await ask((pool) =>
      addChannel(pool, makeSealing(channelKey), {
        ...{ format: "native", serviceRegion: null, description: name, floor, open: false },
        credential: credentialOf("native", `http://127.0.0.1:${receiverPort + place}/`, true),
        ...{ venues: venues && [...venues], categories: null, onMaintenance: "alert", transfers: null },
      }),
    );
}
