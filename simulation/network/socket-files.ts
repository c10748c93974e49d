/** The files of Unix sockets. Without a simulated disk, they are only names. */
import type { Machine } from "../virtual-time.js";
import { addressError } from "./network-error.js";

/** They throw what node throws. */
export interface SocketFiles {
  /** @returns an object that stands for the socket, whatever its name becomes */
  make: (path: string) => object;
  /** Null: it is no socket. */
  at: (path: string) => object | null;
  remove: (path: string) => void;
}

export interface SocketFilesOfMachines {
  of: (machine: Machine) => SocketFiles;
}

/** The part of the simulated disks that the network uses. */
export interface DisksWithSockets {
  of: (machine: Machine) => { sockets: SocketFiles };
  /** The path on the simulated disk; null: it is not on it. */
  pathOf: (given: unknown) => string | null;
}

export function makeSocketFiles(): SocketFilesOfMachines {
  const machines = new Map<Machine, SocketFiles>();
  return {
    of(machine) {
      let files = machines.get(machine);
      if (!files) machines.set(machine, (files = makeNames()));
      return files;
    },
  };
}

/** Files on the simulated disk, and names for all other paths. */
export function socketFilesOn(disks: DisksWithSockets): SocketFilesOfMachines {
  const names = makeSocketFiles();
  return {
    of(machine) {
      const { sockets } = disks.of(machine);
      const others = names.of(machine);
      const either = <Result>(given: string, use: (files: SocketFiles, path: string) => Result) => {
        const path = disks.pathOf(given);
        return path === null ? use(others, given) : use(sockets, path);
      };
      return {
        make: (given) => either(given, (files, path) => files.make(path)),
        at: (given) => either(given, (files, path) => files.at(path)),
        remove: (given) => either(given, (files, path) => files.remove(path)),
      };
    },
  };
}

function makeNames(): SocketFiles {
  const sockets = new Map<string, object>();
  return {
    make(path) {
      if (sockets.has(path)) throw addressError("listen", "EADDRINUSE", path);
      const socket = {};
      sockets.set(path, socket);
      return socket;
    },
    at(path) {
      const socket = sockets.get(path);
      if (!socket) throw addressError("connect", "ENOENT", path);
      return socket;
    },
    remove: (path) => void sockets.delete(path),
  };
}
