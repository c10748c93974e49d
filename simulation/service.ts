/** Our own programs, each on a machine of its own: probes, cores and web servers. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Registry } from "../shared/registry/registry.js";
import { keyOf, type Ledger } from "./ledger.js";
import { startCoreProgram, startProbeProgram, startWebProgram, type ProbeProgram } from "./programs.js";
import { webPort } from "./reader.js";
import type { ClusterShape } from "./shape.js";
import { supervise, type Supervised } from "./supervised.js";
import type { Machine, VirtualTime } from "./virtual-time.js";

export interface Probe extends Supervised {
  region: string;
  program: () => ProbeProgram | null;
}

export interface Core extends Supervised {
  /** Once it has claimed alerts, it stands still until this time (true time). */
  freezeAtClaim: (untilMs: number) => void;
}

export interface Service {
  probes: readonly Probe[];
  cores: readonly Core[];
  webs: readonly Supervised[];
}

export interface ServiceOptions {
  shape: ClusterShape;
  time: VirtualTime;
  ledger: Ledger;
  databaseUrl: string;
  /** The registry of the programs that start now. */
  registry: () => Registry;
  coreMachines: readonly Machine[];
  makeMachine: (name: string) => Machine;
  write: (line: string) => void;
}

/** None of them is started yet. */
export function superviseService(options: ServiceOptions): Service {
  const { shape, time, databaseUrl, registry, coreMachines, makeMachine, write } = options;
  const { probesPerRegion } = shape;
  const probes = registry().regions.flatMap(({ id: region }) =>
    Array.from({ length: probesPerRegion }, (_, place) => superviseProbe(options, region, `${region}-${place + 1}`)),
  );
  const cores = coreMachines.map((machine) => superviseCore(options, machine));
  const webs = Array.from({ length: shape.webs }, (_, place) =>
    supervise(time, makeMachine(`web-${place + 1}`), () =>
      startWebProgram({ databaseUrl, registry: registry(), port: webPort, write }),
    ),
  );
  return { probes, cores, webs };
}

function superviseCore({ time, ledger, databaseUrl, write }: ServiceOptions, machine: Machine): Core {
  let frozenUntilMs = -Infinity;
  const supervised = supervise(time, machine, () =>
    startCoreProgram({
      ...{ databaseUrl, write },
      onDecided: (instant, fence) => ledger.decisions.push({ core: machine.name, instant, fence, atMs: time.nowMs() }),
      async onClaimed() {
        if (frozenUntilMs <= time.nowMs()) return;
        ledger.begin(machine.name, "pause", time.nowMs()).toMs = frozenUntilMs;
        supervised.process()?.pause(frozenUntilMs);
        await sleep(0);
      },
    }),
  );
  return { ...supervised, freezeAtClaim: (untilMs) => (frozenUntilMs = Math.max(frozenUntilMs, untilMs)) };
}

function superviseProbe(
  { time, ledger, databaseUrl, registry, makeMachine, write }: ServiceOptions,
  region: string,
  name: string,
): Probe {
  let program: ProbeProgram | null = null;
  const supervised = supervise(time, makeMachine(name), async () => {
    program = null;
    program = await startProbeProgram({
      ...{ databaseUrl, write, registry: registry(), region, machine: name, dataDir: `/simulated/${name}` },
      onTaken(sample) {
        const key = keyOf(region, sample);
        const takers = ledger.taken.get(key) ?? [];
        ledger.taken.set(key, [...takers, { region, probe: name, sample, atMs: time.nowMs() }]);
      },
      onAcknowledged: (samples) => samples.forEach((sample) => ledger.acknowledged.add(keyOf(region, sample))),
    });
    return program;
  });
  return { ...supervised, region, program: () => program };
}
