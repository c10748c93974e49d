/**
 * The whole service on simulated machines: probes of several regions, cores, the database, venues and receivers of
 * alerts. Each program can be killed and is started again by its supervisor.
 */
import { createServer } from "node:http";
import { addChannel } from "../server/alerts/channels/add-channel.js";
import { credentialOf } from "../server/alerts/channels/credential.js";
import { makeSealing } from "../server/alerts/channels/sealing.js";
import { openPool, type Pool } from "../shared/database/pool.js";
import { makeLog } from "../shared/log/log.js";
import type { Registry } from "../shared/registry/registry.js";
import { openSimulatedDatabase, type SimulatedDatabase } from "./database.js";
import { keyOf, makeLedger, type Ledger } from "./ledger.js";
import type { Network } from "./network/network.js";
import { copyPreparedDatabase } from "./prepared-database.js";
import { channelKey, startCoreProgram, startProbeProgram, startWebProgram, type ProbeProgram } from "./programs.js";
import { readForever, webPort } from "./reader.js";
import type { SeededRandom } from "./seeded-random.js";
import { noteStates } from "./states.js";
import { startSimulatedVenue, venueEntry, type SimulatedVenue, type VenueFault } from "./venue.js";
import type { Machine, Process, VirtualTime } from "./virtual-time.js";

export interface ClusterShape {
  regions: number;
  probesPerRegion: number;
  venues: number;
  cores: number;
  webs: number;
  channels: number;
  cadenceMs: number;
}

/** A program that its supervisor starts again after it has been killed. */
export interface Supervised {
  name: string;
  machine: Machine;
  process: () => Process | null;
  start: () => void;
}

export interface Probe extends Supervised {
  region: string;
  program: () => ProbeProgram | null;
}

export interface Channel {
  name: string;
  /** How the receiver reacts to the next alerts. */
  react: (reaction: "accept" | "refuse" | "hang" | "reset") => void;
}

export interface RunningVenue extends SimulatedVenue {
  kill: () => void;
  start: () => void;
}

export interface Cluster {
  registry: Registry;
  ledger: Ledger;
  database: SimulatedDatabase;
  probes: readonly Probe[];
  cores: readonly Supervised[];
  webs: readonly Supervised[];
  venues: ReadonlyMap<string, RunningVenue>;
  machines: readonly Machine[];
  channels: readonly Channel[];
  /** True time. */
  startMs: number;
  nowMs: () => number;
  /** The number of events that a program waits for, and that of its machine's connections. */
  resourcesOf: (program: Supervised) => { pending: number; connections: number };
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

export async function startCluster(shape: ClusterShape, around: Surroundings): Promise<Cluster> {
  const { time, random, network, write, definitions } = around;
  const registry = registryOf(shape);
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
  const log = makeLog("database", "warn", write);
  const database = await openSimulatedDatabase({
    ...{ time, random: random.branch("database"), log },
    ...{ machine: makeMachine("database", true), host: "database.machine", directory: `${directory}/pgdata` },
  });
  database.start();

  const venues = new Map(
    registry.venues.map(({ id }) => {
      const machine = makeMachine(id);
      network.name(`${id}.venue`, machine);
      return [id, runVenue(id, machine, time)] as const;
    }),
  );

  const coreMachines = Array.from({ length: shape.cores }, (_, place) => makeMachine(`core-${place + 1}`));
  const channels = Array.from({ length: shape.channels }, (_, place) =>
    startReceivers(`channel-${place + 1}`, receiverPort + place, coreMachines, time, ledger),
  );

  const observer = time.startProcess("observer", makeMachine("observer", true));
  const pool = observer.run(() =>
    openPool(database.url, { applicationName: "observer", log: makeLog("observer", "warn", write), max: 1 }),
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
  for (const place of channels.keys())
    await ask((pool) =>
      addChannel(pool, makeSealing(channelKey), {
        ...{ format: "native", serviceRegion: null, description: "", floor: "degraded", open: false },
        credential: credentialOf("native", `http://127.0.0.1:${receiverPort + place}/`, true),
        ...{ venues: null, categories: null },
      }),
    );

  const probes = registry.regions.flatMap(({ id: region }) =>
    Array.from({ length: shape.probesPerRegion }, (_, place) => superviseProbe(region, `${region}-${place + 1}`)),
  );
  const cores = coreMachines.map(superviseCore);
  const webs = Array.from({ length: shape.webs }, (_, place) => superviseWeb(makeMachine(`web-${place + 1}`)));
  for (const program of [...probes, ...cores, ...webs]) program.start();
  const others = ["/v1/incidents", "/v1/regions", ...registry.venues.map(({ id }) => `/v1/exchanges/${id}`)];
  const paths = others.flatMap((path) => ["/v1/status", path]);
  for (const { name } of webs)
    void observer.run(() => readForever(`${name}.machine`, paths, (body) => ledger.bodies.push(body)));
  void observer.run(() => noteStates(pool, (states) => ledger.states.push(states)));

  function superviseProbe(region: string, name: string): Probe {
    const machine = makeMachine(name);
    let process: Process | null = null;
    let program: ProbeProgram | null = null;
    return {
      ...{ name, region, machine, process: () => process, program: () => program },
      start() {
        const started = (process = time.startProcess(name, machine));
        program = null;
        const startProgram = () =>
          startProbeProgram({
            ...{ databaseUrl: database.url, write, registry, region, machine: name, dataDir: `/simulated/${name}` },
            onTaken(sample) {
              const key = keyOf(region, sample);
              const takers = ledger.taken.get(key) ?? [];
              ledger.taken.set(key, [...takers, { region, probe: name, sample, atMs: time.nowMs() }]);
            },
            onAcknowledged: (samples) => samples.forEach((sample) => ledger.acknowledged.add(keyOf(region, sample))),
          });
        void started.run(startProgram).then((running) => (program = running));
      },
    };
  }

  function superviseCore(machine: Machine): Supervised {
    let process: Process | null = null;
    return {
      ...{ name: machine.name, machine, process: () => process },
      start() {
        process = time.startProcess(machine.name, machine);
        process.run(() =>
          startCoreProgram({
            ...{ databaseUrl: database.url, write },
            onDecided: (instant, fence) => ledger.decisions.push({ core: machine.name, instant, fence }),
          }),
        );
      },
    };
  }

  function superviseWeb(machine: Machine): Supervised {
    let process: Process | null = null;
    return {
      ...{ name: machine.name, machine, process: () => process },
      start() {
        process = time.startProcess(machine.name, machine);
        void process.run(() => startWebProgram({ databaseUrl: database.url, registry, port: webPort, write }));
      },
    };
  }

  return {
    ...{ registry, ledger, database, probes, cores, webs, venues, channels, machines, ask },
    startMs: time.nowMs(),
    nowMs: time.nowMs,
    resourcesOf(program) {
      const process = program.process();
      return { pending: process ? time.pending(process) : 0, connections: network.connectionsOf(program.machine) };
    },
    async close() {
      for (const program of [...probes, ...cores, ...webs]) program.process()?.kill();
      observer.kill();
      await database.crash();
      await database.close();
    },
  };
}

function runVenue(id: string, machine: Machine, time: VirtualTime): RunningVenue {
  let process: Process;
  let venue: SimulatedVenue;
  let fault: VenueFault = null;
  const start = () => {
    process = time.startProcess(id, machine);
    venue = process.run(startSimulatedVenue);
    venue.fault(fault);
  };
  start();
  return {
    start,
    kill: () => process.kill(),
    fault(given) {
      fault = given;
      venue.fault(given);
    },
  };
}

export function registryOf({ regions, venues, cadenceMs }: ClusterShape): Registry {
  return {
    probeIntervalMs: cadenceMs,
    regions: Array.from({ length: regions }, (_, place) => ({
      id: `region-${place + 1}`,
      name: `Region ${place + 1}`,
    })),
    venues: Array.from({ length: venues }, (_, place) => venueEntry(`venue-${place + 1}`, cadenceMs)),
  };
}

/**
 * A receiver listens on the loopback address of each machine of a core, because alerts over plain HTTP are sent to no
 * other address.
 */
function startReceivers(
  name: string,
  port: number,
  machines: readonly Machine[],
  time: VirtualTime,
  ledger: Ledger,
): Channel {
  let reaction: "accept" | "refuse" | "hang" | "reset" = "accept";
  for (const machine of machines)
    time.startProcess(`${name} at ${machine.name}`, machine).run(() => {
      const server = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          if (reaction === "hang") return;
          if (reaction === "reset") return void request.socket.destroy();
          if (reaction === "accept") noteArrival(name, Buffer.concat(chunks).toString(), time.nowMs(), ledger);
          response.writeHead(reaction === "accept" ? 200 : 500).end("noted");
        });
        request.on("error", () => {});
      });
      server.listen(port, "127.0.0.1");
    });
  return { name, react: (given) => (reaction = given) };
}

function noteArrival(channel: string, body: string, atMs: number, ledger: Ledger): void {
  const alert = JSON.parse(body) as { eventId: number };
  ledger.arrivals.push({ channel, eventId: alert.eventId, content: body, atMs });
}
