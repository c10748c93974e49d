/**
 * Gives simulated processes the disk of their machine, through the names that programs use: node:fs and
 * node:fs/promises. Production code runs unchanged. Real paths stay on the real disk, and virtual time waits for
 * their answers. Outside of simulated processes everything stays real.
 */
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { SeededRandom } from "../seeded-random.js";
import { currentProcess, type Machine, type Process, type VirtualTime } from "../virtual-time.js";
import { type Disk, type DiskOfMachine, type DiskOptions, makeDisk } from "./disk.js";
import { crossDevice, functionsOfTwoPaths } from "./promise-functions.js";
import { SimulatedFile } from "./simulated-file.js";
import { firstDescriptor, simulatedPath } from "./simulated-path.js";
import { unsupported } from "./system-error.js";

export interface Disks {
  /** Each machine has its own, with its own tree below `/simulated`. */
  of: (machine: Machine) => Disk;
  /**
   * The path on the disk of the running process's machine; null: outside of a process, or a real path. Also for
   * `/proc/self/fd/…`, as long paths of Unix sockets are written.
   */
  pathOf: (given: unknown) => string | null;
}

type Callable = (...values: unknown[]) => unknown;
type Functions = Record<string, Callable>;

const require = createRequire(import.meta.url);
const fs = require("node:fs") as Functions;
const promises = require("node:fs/promises") as Functions;

/** Their last argument is called again and again, or they return no promise. */
const listening = ["watch", "watchFile", "unwatchFile", "createReadStream", "createWriteStream"];

/** To be called once in a program, before it starts a process. */
export function installVirtualDisk(time: VirtualTime, random: SeededRandom, options?: DiskOptions): Disks {
  const disks = new Map<Machine, DiskOfMachine>();

  function of(machine: Machine): DiskOfMachine {
    let disk = disks.get(machine);
    if (!disk) disks.set(machine, (disk = makeDisk(time, random.branch(`disk of ${machine.name}`), machine, options)));
    return disk;
  }

  const pathIn = (process: Process, given: unknown) =>
    simulatedPath(given, (fd) => of(process.machine).pathOf(process, fd));

  /** Null: all of them are real. */
  function simulatedPaths(process: Process, name: string, values: readonly unknown[]): string[] | null {
    const given = values.slice(0, functionsOfTwoPaths.includes(name.replace(/Sync$/, "")) ? 2 : 1);
    const paths = given.map((one) => pathIn(process, one));
    const simulated = paths.filter((path) => path !== null);
    if (simulated.length === 0) return null;
    if (simulated.length < paths.length) throw crossDevice(name.toLowerCase(), String(given[0]), String(given[1]));
    return simulated;
  }

  /** Undefined: the real function is to be called. */
  function onDisk(process: Process, name: string, kind: "promises" | "blocking", values: unknown[]) {
    const disk = of(process.machine);
    if (values[0] instanceof SimulatedFile) return byHandle(values[0], name, values.slice(1));
    if (typeof values[0] === "number" && values[0] >= firstDescriptor) throw unsupported(`${name} of a descriptor`);
    const paths = simulatedPaths(process, name, values);
    if (!paths) return undefined;
    const functions = (kind === "promises" ? disk.promises(process) : disk.blocking) as unknown as Functions;
    if (!Object.hasOwn(functions, name)) throw unsupported(`${kind === "promises" ? "fs.promises" : "fs"}.${name}`);
    return { result: functions[name]!(...paths, ...values.slice(paths.length)) };
  }

  const waiting = time.waitFor;
  for (const name of functionsIn(promises)) {
    const real = promises[name]!;
    promises[name] = (...values) => {
      const process = currentProcess();
      if (!process) return real(...values);
      const simulated = onDisk(process, name, "promises", values);
      if (simulated) return simulated.result;
      if (name === "watch") return real(...values);
      const answer = waiting(real(...values) as Promise<unknown>);
      return name === "open" ? answer.then((handle) => waitingHandle(handle as Functions, waiting)) : answer;
    };
  }
  for (const name of functionsIn(fs))
    fs[name] = new Proxy(fs[name]!, {
      apply(real, self, values: unknown[]): unknown {
        const process = currentProcess();
        if (!process) return Reflect.apply(real, self, values);
        const simulated = onDisk(process, name, "blocking", values);
        if (simulated) return simulated.result;
        const callback = values.at(-1);
        if (typeof callback !== "function" || listening.includes(name)) return Reflect.apply(real, self, values);
        return waitingCallback(real, values.slice(0, -1), callback as Callable, waiting);
      },
    });
  syncBuiltinESMExports();

  return {
    of,
    pathOf(given) {
      const process = currentProcess();
      return process ? pathIn(process, given) : null;
    },
  };
}

function functionsIn(module: Functions): string[] {
  return Object.keys(module).filter((name) => /^[a-z]/.test(name) && typeof module[name] === "function");
}

function byHandle(file: SimulatedFile, name: string, values: unknown[]) {
  const method = (file as unknown as Functions)[name];
  if (!["readFile", "writeFile", "appendFile"].includes(name) || !method) throw unsupported(`${name} of a FileHandle`);
  return { result: method.apply(file, values) };
}

/** Virtual time waits until the callback was called. */
function waitingCallback(
  real: Callable,
  values: unknown[],
  callback: Callable,
  waiting: VirtualTime["waitFor"],
): unknown {
  let done = () => {};
  const answer = new Promise<void>((resolve) => (done = resolve));
  // it throws at once where arguments are wrong
  const result = real(...values, (...answer: unknown[]) => {
    done();
    callback(...answer);
  });
  void waiting(answer);
  return result;
}

const patched = new WeakSet();

/** Virtual time waits for the methods of a real handle. All handles have one prototype. */
function waitingHandle(handle: Functions, waiting: VirtualTime["waitFor"]): Functions {
  const wait = (real: Callable) =>
    function (this: unknown, ...values: unknown[]): unknown {
      const answer = real.apply(this, values);
      return currentProcess() && answer instanceof Promise ? waiting(answer) : answer;
    };
  const methods = Object.getPrototypeOf(handle) as Functions;
  if (!patched.has(methods)) {
    patched.add(methods);
    for (const name of Object.getOwnPropertyNames(methods)) {
      const value: unknown = Object.getOwnPropertyDescriptor(methods, name)!.value;
      if (name !== "constructor" && typeof value === "function") methods[name] = wait(value as Callable);
    }
  }
  // it belongs to the handle, not to the prototype
  if (Object.hasOwn(handle, "close")) handle.close = wait(handle.close!.bind(handle));
  return handle;
}
