/** The open files of each process of a machine, and what can be done with one: the system calls on descriptors. */
import { constants } from "node:fs";
import type { Process } from "../virtual-time.js";
import type { FileSystem } from "./file-system.js";
import type { FileInode, Inode } from "./inode.js";
import { firstDescriptor } from "./simulated-path.js";
import { Refusal } from "./system-error.js";

const { O_RDONLY, O_WRONLY, O_APPEND, O_SYNC, O_DSYNC } = constants;
const accessModes = 3;

export interface OpenFile {
  readonly inode: Inode;
  readonly flags: number;
  readonly path: string;
  position: number;
}

export type OpenFiles = ReturnType<typeof makeOpenFiles>;

export function makeOpenFiles(system: FileSystem) {
  let tables = new Map<Process, Map<number, OpenFile>>();
  let most = Infinity;

  function tableOf(process: Process): Map<number, OpenFile> {
    let table = tables.get(process);
    if (!table) {
      tables.set(process, (table = new Map<number, OpenFile>()));
      process.onKill(() => {
        for (const { inode } of tables.get(process)?.values() ?? []) system.release(inode);
        tables.delete(process);
      });
    }
    return table;
  }

  return {
    setMost: (files: number) => void (most = files),
    at: (process: Process, fd: number): OpenFile | undefined => tables.get(process)?.get(fd),
    open(process: Process, path: string, flags: number, mode: number): number {
      const table = tableOf(process);
      if (table.size >= most) throw new Refusal("EMFILE");
      const inode = system.open(path, flags, mode);
      let fd = firstDescriptor;
      while (table.has(fd)) fd += 1;
      // opened by its last call, which it does not survive
      if (!process.isAlive()) system.release(inode);
      else table.set(fd, { inode, flags, path, position: 0 });
      return fd;
    },
    close(process: Process, fd: number): void {
      const open = used(process, fd);
      tables.get(process)!.delete(fd);
      system.release(open.inode);
    },
    /** Returns the number of bytes; 0 at the end of the file. */
    read(process: Process, fd: number, into: Uint8Array, position: number | null): number {
      const open = used(process, fd);
      if ((open.flags & accessModes) === O_WRONLY) throw new Refusal("EBADF");
      if (open.inode.kind === "directory") throw new Refusal("EISDIR");
      const from = position ?? open.position;
      const bytes = fileOf(open)
        .content.view()
        .subarray(from, from + into.length);
      into.set(bytes);
      if (position === null) open.position += bytes.length;
      return bytes.length;
    },
    /** Returns the number of bytes, maybe less than given. Appended bytes go to the end, whatever the position. */
    write(process: Process, fd: number, bytes: Uint8Array, position: number | null): number {
      const open = used(process, fd);
      if ((open.flags & accessModes) === O_RDONLY) throw new Refusal("EBADF");
      const file = fileOf(open);
      const at = open.flags & O_APPEND ? file.content.size : (position ?? open.position);
      const written = system.write(file, at, bytes);
      if (position === null) open.position = at + written;
      if (open.flags & (O_SYNC | O_DSYNC)) system.sync(file);
      return written;
    },
    resize(process: Process, fd: number, size: number): void {
      const open = used(process, fd);
      if ((open.flags & accessModes) === O_RDONLY) throw new Refusal("EINVAL");
      system.resize(fileOf(open), size);
    },
    inode: (process: Process, fd: number): Inode => used(process, fd).inode,
    /** The machine has lost power. */
    clear: () => void (tables = new Map<Process, Map<number, OpenFile>>()),
  };

  function used(process: Process, fd: number): OpenFile {
    const open = tables.get(process)?.get(fd);
    if (open) return open;
    throw new Error(
      `descriptor ${fd} of ${process.name} is not open: kill a machine's processes before the crash of its disk`,
    );
  }
}

function fileOf({ inode, path }: OpenFile): FileInode {
  if (inode.kind !== "file") throw new Error(`expected a file at ${path}, got a ${inode.kind}`);
  return inode;
}
