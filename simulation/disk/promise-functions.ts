/** The functions of node:fs/promises for paths of the simulated disk, each made of the system calls that node makes. */
import { constants, type Dirent, type Stats } from "node:fs";
import { constants as osConstants } from "node:os";
import { dirname } from "node:path";
import type { Process } from "../virtual-time.js";
import { makeContentFunctions } from "./content-functions.js";
import { copyFile } from "./copy-file.js";
import { bitsOf, type Mode, modeOf } from "./file-mode.js";
import { entryOf, statusOf } from "./file-status.js";
import { type Inode, touch } from "./inode.js";
import { type DiskParts, optionsOf } from "./simulated-file.js";
import type { Syscall } from "./system-calls.js";
import { Refusal, systemError, unsupported } from "./system-error.js";

export type PromiseFunctions = ReturnType<typeof makePromiseFunctions>;

/** Paths are given as `simulatedPath` returns them. */
export function makePromiseFunctions(parts: DiskParts, process: Process) {
  const { system, calls } = parts;

  function call<Result>(syscall: Syscall, path: string, effect: () => Result): Promise<Result> {
    return calls.call(process, { syscall, path, effect });
  }

  async function mkdir(path: string, options?: { recursive?: boolean; mode?: Mode } | Mode) {
    const { recursive, mode } = typeof options === "object" && options ? options : { recursive: false, mode: options };
    const bits = modeOf(mode, 0o777);
    if (!recursive) return call("mkdir", path, () => system.makeDirectory(path, bits));
    return call("mkdir", path, () => makeAll(path, bits));
  }

  /** Returns the first directory that it made. */
  function makeAll(path: string, mode: number): string | undefined {
    try {
      system.makeDirectory(path, mode);
      return path;
    } catch (error) {
      const { code } = error as Refusal;
      if (code === "ENOENT") {
        const first = makeAll(dirname(path), mode);
        return makeAll(path, mode) === undefined ? undefined : (first ?? path);
      }
      if (code !== "EEXIST" && code !== "EBUSY") throw error;
      if (system.lookup(path).kind !== "directory") throw new Refusal("EEXIST");
      return undefined;
    }
  }

  async function readdir(path: string, options?: { withFileTypes?: boolean; recursive?: boolean } | BufferEncoding) {
    const { withFileTypes, recursive, encoding } = optionsOf(
      options as { withFileTypes?: boolean; recursive?: boolean },
    );
    if (recursive) throw unsupported("readdir with recursive");
    if (encoding && encoding !== "utf8") throw unsupported(`readdir with encoding ${encoding}`);
    const entries = await call("scandir", path, () => system.entriesOf(path));
    return entries.map(([name, inode]): string | Dirent => (withFileTypes ? entryOf(name, inode, path) : name));
  }

  async function rm(path: string, options: { force?: boolean; recursive?: boolean } = {}): Promise<void> {
    let inode: Inode;
    try {
      inode = await call("lstat", path, () => system.lookup(path));
    } catch (error) {
      if (options.force && (error as NodeJS.ErrnoException).code === "ENOENT") return;
      throw error;
    }
    if (inode.kind !== "directory") return unlink(path);
    if (!options.recursive)
      throw Object.assign(new Error(`Path is a directory: rm returned EISDIR (is a directory) ${path}`), {
        ...{ name: "SystemError", code: "ERR_FS_EISDIR", syscall: "rm", path, errno: osConstants.errno.EISDIR },
      });
    for (const name of (await readdir(path)) as string[])
      await rm(`${path.replace(/\/$/, "")}/${name}`, { force: true, recursive: true });
    await call("rmdir", path, () => system.removeDirectory(path));
  }

  function unlink(path: string): Promise<void> {
    return call("unlink", path, () => system.unlink(path));
  }

  function status(syscall: "stat" | "lstat", path: string, options?: { bigint?: boolean }): Promise<Stats> {
    return call(syscall, path, () => statusOf(system.lookup(path), options));
  }

  return {
    ...makeContentFunctions(parts, process),
    copyFile: (path: string, dest: string, mode?: number): Promise<void> =>
      calls.call(process, { syscall: "copyfile", path, dest, effect: () => copyFile(system, path, dest, mode) }),
    rename: (path: string, dest: string): Promise<void> =>
      calls.call(process, { syscall: "rename", path, dest, effect: () => system.rename(path, dest) }),
    unlink,
    rm,
    rmdir: (path: string, options: { recursive?: boolean } = {}) => {
      if (options.recursive) throw unsupported("rmdir with recursive");
      return call("rmdir", path, () => system.removeDirectory(path));
    },
    mkdir,
    readdir,
    stat: (path: string, options?: { bigint?: boolean }) => status("stat", path, options),
    // there are no symbolic links
    lstat: (path: string, options?: { bigint?: boolean }) => status("lstat", path, options),
    access: (path: string, mode: number = constants.F_OK) =>
      call("access", path, () => {
        const inode = system.lookup(path);
        if (mode & constants.W_OK) system.refuseIfReadOnly();
        // root may read and write all, but not run what nobody may run
        if (mode & constants.X_OK && inode.kind !== "directory" && !(inode.mode & 0o111)) throw new Refusal("EACCES");
      }),
    chmod: (path: string, mode: Mode) =>
      call("chmod", path, () => system.change(system.lookup(path), (inode) => (inode.mode = bitsOf(mode, 0)))),
    utimes: (path: string, accessed: Date | number | string, modified: Date | number | string) =>
      call("utime", path, () =>
        system.change(system.lookup(path), (inode) => {
          touch(inode, millisecondsOf(modified));
          inode.accessedMs = millisecondsOf(accessed);
        }),
      ),
  };
}

/** The functions whose second argument is a path too. */
export const functionsOfTwoPaths: readonly string[] = ["rename", "copyFile", "link", "cp", "symlink"];

/** Between the simulated and a real disk, nothing is renamed, as between two real ones. */
export function crossDevice(syscall: string, path: string, dest: string): Error {
  return systemError("EXDEV", syscall, path, dest);
}

function millisecondsOf(given: Date | number | string): number {
  return given instanceof Date ? +given : Number(given) * 1000;
}
