/** Programs that their supervisor starts again after they have been killed. */
import type { Machine, Process, VirtualTime } from "./virtual-time.js";
import type { Poison } from "./poison.js";
import type { SimulatedVenue, VenueFault } from "./venue.js";

export interface Supervised {
  name: string;
  machine: Machine;
  /** The last one that was started; null: none yet. */
  process: () => Process | null;
  start: () => void;
  /** Asks it to end by itself, as SIGTERM does. */
  stop: () => void;
}

/** What a program returns once it runs. */
interface Running {
  close: () => Promise<void>;
}

/** @param run starts the program within its process */
export function supervise(
  time: VirtualTime,
  machine: Machine,
  run: () => Promise<Running> | Running | undefined,
): Supervised {
  let process: Process | null = null;
  let running: Running | undefined;
  return {
    ...{ name: machine.name, machine, process: () => process },
    start() {
      running = undefined;
      const started = (process = time.startProcess(machine.name, machine));
      void started.run(async () => {
        const given = await run();
        if (process === started) running = given;
      });
    },
    stop() {
      const closing = process?.isAlive() ? running : undefined;
      running = undefined;
      void process?.run(() => closing?.close());
    },
  };
}

/** A server that fails as instructed, also after a restart. */
export interface FaultyServer extends Supervised, SimulatedVenue {}

/** @param run starts the server within its process, and returns what sets its fault */
export function startFaultyServer(time: VirtualTime, machine: Machine, run: () => SimulatedVenue): FaultyServer {
  let fault: VenueFault = null;
  let poison: Poison | null = null;
  let server: SimulatedVenue | null = null;
  const supervised = supervise(time, machine, () => {
    server = run();
    server.fault(fault);
    server.poison(poison);
    return undefined;
  });
  supervised.start();
  // by the clock of its machine
  return {
    ...supervised,
    fault(given) {
      fault = given;
      supervised.process()!.run(() => server!.fault(given));
    },
    poison(given) {
      poison = given;
      server!.poison(given);
    },
  };
}
