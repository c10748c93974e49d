/** One virtual time and its disks for a file of tests: they are installed once per program. */
import { installVirtualDisk, type Disks } from "../../../simulation/disk/disks.js";
import type { Disk } from "../../../simulation/disk/disk.js";
import { makeSeededRandom, type SeededRandom } from "../../../simulation/seeded-random.js";
import { installVirtualGlobals } from "../../../simulation/virtual-globals.js";
import { makeVirtualTime, type Machine, type Process, type VirtualTime } from "../../../simulation/virtual-time.js";
import { installVirtualNetwork } from "../../../simulation/network/network.js";

export interface SimulatedMachine {
  machine: Machine;
  disk: Disk;
  start: (name: string) => Process;
}

export const startMs = Date.UTC(2026, 0, 1);

export function simulation(seed: string) {
  const time = makeVirtualTime(startMs);
  // the installed simulation draws from the random numbers of the running case
  let random: SeededRandom = makeSeededRandom(seed);
  const current: SeededRandom = {
    next: () => random.next(),
    integer: (least, most) => random.integer(least, most),
    chance: (probability) => random.chance(probability),
    pick: (from) => random.pick(from),
    bytes: (into) => random.bytes(into),
    branch: (name) => random.branch(name),
  };
  installVirtualGlobals(time, current);
  const disks = installVirtualDisk(time, current);
  installVirtualNetwork(time, current.branch("network")).useDisks(disks);
  return {
    time,
    disks,
    seedWith: (given: string) => void (random = makeSeededRandom(given)),
    random: current,
    machine: (name: string, errorMs = 0) => machineNamed(time, disks, name, errorMs),
  };
}

export type Simulation = ReturnType<typeof simulation>;

function machineNamed(time: VirtualTime, disks: Disks, name: string, errorMs: number): SimulatedMachine {
  const machine: Machine = { name, clock: { errorMs, rate: 1 } };
  return { machine, disk: disks.of(machine), start: (process) => time.startProcess(process, machine) };
}

/** Runs work in a process, and passes time until it is done. */
export async function finish<Result>(
  time: VirtualTime,
  process: Process,
  work: () => Promise<Result>,
  withinMs = 600_000,
): Promise<Result> {
  let outcome: { result: Result } | { error: unknown } | undefined;
  process.run(() => {
    void work().then(
      (result) => (outcome = { result }),
      (error: unknown) => (outcome = { error }),
    );
  });
  await time.pass(time.nowMs() + withinMs, () => outcome !== undefined);
  if (!outcome) throw new Error(`expected an end within ${withinMs} ms of virtual time`);
  if ("error" in outcome) throw outcome.error;
  return outcome.result;
}
