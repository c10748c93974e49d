/**
 * The disk of one machine, in memory, with the faults of real disks.
 *
 * Not memfs: it brings a dozen packages, it does not know what was synced, so that no power failure can be simulated,
 * and it acts at once, so that no process can be killed between the effect of a call and its answer.
 */
import type { SeededRandom } from "../seeded-random.js";
import type { Machine, Process, VirtualTime } from "../virtual-time.js";
import { type BlockingFunctions, makeBlockingFunctions } from "./blocking-functions.js";
import { FileSystem } from "./file-system.js";
import type { FileInode, Inode, SocketInode } from "./inode.js";
import { makeOpenFiles } from "./open-files.js";
import { makePromiseFunctions, type PromiseFunctions } from "./promise-functions.js";
import { simulatedRoot } from "./simulated-path.js";
import { makeSystemCalls, type Syscall } from "./system-calls.js";
import { Refusal, systemError } from "./system-error.js";

export interface StoredFile {
  path: string;
  sizeBytes: number;
  /** A copy. */
  bytes: Buffer;
}

export interface Disk {
  /** What programs see, by path; to be called outside of a process. */
  files: () => StoredFile[];
  usedBytes: () => number;
  /** Beyond it, writes are partial, and then fail with ENOSPC. */
  setCapacity: (bytes: number) => void;
  /** Changes fail with EROFS, even those of open files. */
  setReadOnly: (readOnly: boolean) => void;
  /** Beyond it, a process gets EMFILE. */
  setMaxOpenFiles: (files: number) => void;
  /**
   * A share of the calls fails.
   *
   * @param share 0: none
   */
  fail: (syscall: Syscall | "all", errno: string, share: number) => void;
  /**
   * Calls whose effect is pending, and new ones, take no effect before the given true time. Infinity: until this is
   * called again. Functions that block the process answer nevertheless.
   */
  stall: (untilMs: number) => void;
  /** From call to answer. */
  setLatency: (latency: { leastUs: number; mostUs: number }) => void;
  /**
   * Flips bits of a byte, on the medium too.
   *
   * @param at of the file; by default a random place
   * @returns the place
   */
  corrupt: (path: string, at?: number) => number;
  /**
   * The power failure of the machine, whose processes must have been killed. Of each file, unsynced data is lost from a
   * random point on, and the last write may be torn. Each unsynced change of a directory has happened or not.
   *
   * @param zeros data may also be lost in such a way that the file keeps its length, with zeros
   */
  crash: (options?: { zeros?: boolean }) => void;
  /** How many system calls there were. */
  calls: () => number;
  /** For the simulated network: Unix sockets are files. */
  sockets: SocketFiles;
}

/** They throw what node throws. */
export interface SocketFiles {
  /** @returns an object that stands for the socket, whatever its name becomes */
  make: (path: string) => SocketInode;
  /** Null: it is no socket, and so refuses connections. */
  at: (path: string) => SocketInode | null;
  /** What node does when a server closes: deletes the name under which it was made, if it is still there. */
  remove: (path: string) => void;
}

export interface DiskOfMachine extends Disk {
  promises: (process: Process) => PromiseFunctions;
  blocking: BlockingFunctions;
  /** The path by which a process has opened a descriptor. */
  pathOf: (process: Process, fd: number) => string | undefined;
}

export interface DiskOptions {
  /**
   * After this time, the kernel writes out changes that nobody has synced. Linux begins after 30 s
   * (`vm.dirty_expire_centisecs`).
   */
  writeBackMs?: number;
}

export function makeDisk(
  time: VirtualTime,
  random: SeededRandom,
  machine: Machine,
  { writeBackMs = 30_000 }: DiskOptions = {},
): DiskOfMachine {
  const wallMs = () => time.nowMs() + machine.clock.errorMs;
  const system = new FileSystem({ nowMs: time.nowMs, wallMs, writeBackMs });
  const calls = makeSystemCalls(time, random.branch("calls"));
  const files = makeOpenFiles(system);
  const parts = { system, calls, files };
  const faults = random.branch("faults");
  const perProcess = new WeakMap<Process, PromiseFunctions>();

  return {
    files: () => [...filesBelow(system.root, simulatedRoot)].map(([path, file]) => storedFile(path, file)),
    ...{ usedBytes: system.usedBytes, calls: calls.calls },
    ...{ setCapacity: system.setCapacity, setReadOnly: system.setReadOnly },
    ...{ setMaxOpenFiles: files.setMost, setLatency: calls.setLatency },
    fail: (syscall, errno, share) => calls.fail(syscall, errno, share),
    stall: (untilMs) => calls.stall(untilMs),
    corrupt(path, at) {
      const inode = system.lookup(path);
      if (inode.kind !== "file" || inode.content.size === 0) throw new Error(`expected a file with data at ${path}`);
      const place = at ?? faults.integer(0, inode.content.size - 1);
      inode.content.flip(place, faults.integer(1, 255));
      return place;
    },
    crash({ zeros = false } = {}) {
      calls.drop();
      files.clear();
      system.crash(faults, zeros);
    },
    sockets: {
      make: (path) => answered("listen", path, () => system.makeSocket(path, 0o755)),
      at: (path) =>
        answered("connect", path, () => {
          const inode = system.lookup(path);
          return inode.kind === "socket" ? inode : null;
        }),
      remove(path) {
        try {
          system.unlink(path);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
        }
      },
    },
    promises(process) {
      let functions = perProcess.get(process);
      if (!functions) perProcess.set(process, (functions = makePromiseFunctions(parts, process)));
      return functions;
    },
    blocking: makeBlockingFunctions(parts),
    pathOf: (process, fd) => files.at(process, fd)?.path,
  };
}

function answered<Result>(syscall: string, path: string, effect: () => Result): Result {
  try {
    return effect();
  } catch (error) {
    throw error instanceof Refusal ? systemError(error.code, syscall, path) : error;
  }
}

function* filesBelow(inode: Inode, path: string): Generator<[string, FileInode]> {
  if (inode.kind === "file") yield [path, inode];
  if (inode.kind === "directory")
    for (const [name, below] of inode.entries) yield* filesBelow(below, `${path}/${name}`);
}

function storedFile(path: string, { content }: FileInode): StoredFile {
  return { path, sizeBytes: content.size, bytes: Buffer.from(content.view()) };
}
