/**
 * The file system of one machine as its kernel has it: each function is one system call, at once. Refuses as Linux
 * does. Times and faults are in system-calls.ts.
 */
import { constants } from "node:fs";
import type { SeededRandom } from "../seeded-random.js";
import { type EntryChange, makeEntryJournal } from "./entry-journal.js";
import {
  type DirectoryInode,
  type FileInode,
  type Inode,
  makeDirectory,
  makeFile,
  makeSocket,
  type SocketInode,
  touch,
} from "./inode.js";
import { simulatedRoot } from "./simulated-path.js";
import { Refusal } from "./system-error.js";

const { O_ACCMODE, O_RDONLY, O_CREAT, O_EXCL, O_TRUNC, O_DIRECTORY } = { O_ACCMODE: 3, ...constants };

const longestName = 255;

export interface FileSystemOptions {
  /** True time, by which the kernel writes out old changes. */
  nowMs: () => number;
  /** The machine's time, for times of files. */
  wallMs: () => number;
  /** After this time, the kernel writes out changes that nobody has synced. */
  writeBackMs: number;
}

export class FileSystem {
  readonly root: DirectoryInode;
  readonly #options: FileSystemOptions;
  readonly #journal = makeEntryJournal();
  #numbers = 1;
  #usedBytes = 0;
  #capacityBytes = Infinity;
  #isReadOnly = false;

  constructor(options: FileSystemOptions) {
    this.#options = options;
    this.root = makeDirectory(this.#numbers++, 0o755, options.wallMs(), null);
  }

  usedBytes = (): number => this.#usedBytes;
  setCapacity = (bytes: number): void => void (this.#capacityBytes = bytes);
  setReadOnly = (readOnly: boolean): void => void (this.#isReadOnly = readOnly);

  makeDirectory(path: string, mode: number): void {
    const { directory, name } = this.#placeOf(path);
    if (directory.entries.has(name)) throw new Refusal("EEXIST");
    this.refuseIfReadOnly();
    this.#link([{ directory, name, inode: makeDirectory(this.#numbers++, mode, this.#options.wallMs(), directory) }]);
  }

  makeSocket(path: string, mode: number): SocketInode {
    const { directory, name } = this.#placeOf(path);
    if (directory.entries.has(name)) throw new Refusal("EADDRINUSE");
    this.refuseIfReadOnly();
    const inode = makeSocket(this.#numbers++, mode, this.#options.wallMs());
    this.#link([{ directory, name, inode }]);
    return inode;
  }

  entriesOf(path: string): [string, Inode][] {
    const inode = this.lookup(path);
    if (inode.kind !== "directory") throw new Refusal("ENOTDIR");
    // node sorts names by their bytes
    return [...inode.entries].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }

  /** Changes properties other than content and entries. */
  change(inode: Inode, change: (inode: Inode) => void): void {
    this.refuseIfReadOnly();
    change(inode);
    inode.changedMs = this.#options.wallMs();
  }

  sync(inode: Inode): void {
    if (inode.kind === "file") inode.content.sync();
    if (inode.kind === "directory") this.#journal.sync(inode);
  }

  /** Nothing remains open. See `Disk.crash`. */
  crash(random: SeededRandom, zeros: boolean): void {
    this.#journal.storeOlderThan(this.#options.nowMs() - this.#options.writeBackMs);
    this.#journal.crash(random);
    this.#usedBytes = 0;
    this.#recover(this.root, random, zeros);
  }

  refuseIfReadOnly(): void {
    if (this.#isReadOnly) throw new Refusal("EROFS");
  }

  #partsOf(path: string): string[] {
    if (!path.startsWith(simulatedRoot)) throw new Error(`expected a path below ${simulatedRoot}, got ${path}`);
    return path
      .slice(simulatedRoot.length)
      .split("/")
      .filter((part) => part !== "" && part !== ".");
  }

  lookup(path: string): Inode {
    let inode: Inode = this.root;
    for (const part of this.#partsOf(path)) inode = this.#step(inode, part);
    if (path.endsWith("/") && inode.kind !== "directory") throw new Refusal("ENOTDIR");
    return inode;
  }

  #step(from: Inode, name: string): Inode {
    if (from.kind !== "directory") throw new Refusal("ENOTDIR");
    if (name === "..") return from.parent;
    if (Buffer.byteLength(name) > longestName) throw new Refusal("ENAMETOOLONG");
    const inode = from.entries.get(name);
    if (!inode) throw new Refusal("ENOENT");
    return inode;
  }

  /** The directory in which the last name of a path is, or would be. */
  #placeOf(path: string): { directory: DirectoryInode; name: string } {
    const parts = this.#partsOf(path);
    const name = parts.pop();
    // the root of the disk, and what has no name of its own
    if (name === undefined || name === "..") throw new Refusal(name ? "ENOTEMPTY" : "EBUSY");
    let directory: Inode = this.root;
    for (const part of parts) directory = this.#step(directory, part);
    if (directory.kind !== "directory") throw new Refusal("ENOTDIR");
    if (Buffer.byteLength(name) > longestName) throw new Refusal("ENAMETOOLONG");
    return { directory, name };
  }

  /** The named inode counts as open until `release`. */
  open(path: string, flags: number, mode: number): Inode {
    if (flags & O_CREAT && path.endsWith("/")) {
      this.#placeOf(path);
      throw new Refusal("EISDIR");
    }
    const inode = this.#existing(path, flags) ?? this.#created(path, mode);
    inode.opens += 1;
    return inode;
  }

  #existing(path: string, flags: number): Inode | null {
    let inode: Inode;
    try {
      inode = this.lookup(path);
    } catch (error) {
      const isMissing = error instanceof Refusal && error.code === "ENOENT";
      if (!isMissing || !(flags & O_CREAT)) throw error;
      return null;
    }
    const writes = (flags & O_ACCMODE) !== O_RDONLY;
    if (flags & O_CREAT && flags & O_EXCL) throw new Refusal("EEXIST");
    if (inode.kind === "directory" && (writes || flags & O_CREAT)) throw new Refusal("EISDIR");
    if (inode.kind !== "directory" && flags & O_DIRECTORY) throw new Refusal("ENOTDIR");
    if (inode.kind === "socket") throw new Refusal("ENXIO");
    if (writes) this.refuseIfReadOnly();
    if (inode.kind === "file" && flags & O_TRUNC) this.resize(inode, 0);
    return inode;
  }

  #created(path: string, mode: number): FileInode {
    const { directory, name } = this.#placeOf(path);
    this.refuseIfReadOnly();
    const inode = makeFile(this.#numbers++, mode, this.#options.wallMs());
    this.#link([{ directory, name, inode }]);
    return inode;
  }

  release(inode: Inode): void {
    inode.opens -= 1;
    this.#freeIfUnused(inode);
  }

  #freeIfUnused(inode: Inode): void {
    if (!inode.isLinked && inode.opens === 0 && inode.kind === "file") this.#usedBytes -= inode.content.size;
  }

  /** Returns how many bytes it has written: on a full disk fewer than given, as POSIX has it. */
  write(inode: FileInode, at: number, bytes: Uint8Array): number {
    this.refuseIfReadOnly();
    const before = inode.content.size;
    const end = Math.min(at + bytes.length, before + Math.max(0, this.#capacityBytes - this.#usedBytes));
    if (end <= at && bytes.length > 0) throw new Refusal("ENOSPC");
    inode.content.write(at, bytes.subarray(0, end - at), this.#options.nowMs());
    this.#changed(inode, before);
    return end - at;
  }

  /** The hole of a longer file takes space too, so that the space in use is the sum of the sizes. */
  resize(inode: FileInode, size: number): void {
    this.refuseIfReadOnly();
    const before = inode.content.size;
    if (size > before && size - before > this.#capacityBytes - this.#usedBytes) throw new Refusal("ENOSPC");
    inode.content.resize(size, this.#options.nowMs());
    this.#changed(inode, before);
  }

  #changed(inode: FileInode, sizeBefore: number): void {
    this.#usedBytes += inode.content.size - sizeBefore;
    inode.content.storeOlderThan(this.#options.nowMs() - this.#options.writeBackMs);
    touch(inode, this.#options.wallMs());
  }

  #link(changes: readonly EntryChange[], removed: readonly DirectoryInode[] = []): void {
    for (const { directory, name, inode } of changes) {
      if (inode) directory.entries.set(name, inode);
      else directory.entries.delete(name);
      if (inode?.kind === "directory") inode.parent = directory;
      touch(directory, this.#options.wallMs());
    }
    this.#journal.storeOlderThan(this.#options.nowMs() - this.#options.writeBackMs);
    this.#journal.add(changes, removed, this.#options.nowMs());
  }

  #unlinked(inode: Inode): void {
    inode.isLinked = false;
    inode.changedMs = this.#options.wallMs();
    this.#freeIfUnused(inode);
  }

  unlink(path: string): void {
    const { directory, name } = this.#placeOf(path);
    const inode = this.#step(directory, name);
    if (inode.kind === "directory") throw new Refusal("EISDIR");
    if (path.endsWith("/")) throw new Refusal("ENOTDIR");
    this.refuseIfReadOnly();
    this.#link([{ directory, name, inode: null }]);
    this.#unlinked(inode);
  }

  removeDirectory(path: string): void {
    const { directory, name } = this.#placeOf(path);
    const inode = this.#step(directory, name);
    if (inode.kind !== "directory") throw new Refusal("ENOTDIR");
    if (inode.entries.size > 0) throw new Refusal("ENOTEMPTY");
    this.refuseIfReadOnly();
    this.#link([{ directory, name, inode: null }], [inode]);
    this.#unlinked(inode);
  }

  rename(path: string, dest: string): void {
    const from = this.#placeOf(path);
    const to = this.#placeOf(dest);
    const inode = this.#step(from.directory, from.name);
    const replaced = to.directory.entries.get(to.name);
    if (inode.kind !== "directory" && (path.endsWith("/") || dest.endsWith("/"))) throw new Refusal("ENOTDIR");
    if (this.#isWithin(to.directory, inode)) throw new Refusal("EINVAL");
    if (replaced && this.#isWithin(from.directory, replaced)) throw new Refusal("ENOTEMPTY");
    if (replaced === inode) return;
    this.#refuseIfReplaces(inode, replaced);
    this.refuseIfReadOnly();
    const removed = replaced?.kind === "directory" ? [replaced] : [];
    this.#link(
      [
        { ...from, inode: null },
        { ...to, inode },
      ],
      removed,
    );
    inode.changedMs = this.#options.wallMs();
    if (replaced) this.#unlinked(replaced);
  }

  #refuseIfReplaces(inode: Inode, replaced: Inode | undefined): void {
    if (!replaced) return;
    if (inode.kind === "directory" && replaced.kind !== "directory") throw new Refusal("ENOTDIR");
    if (inode.kind !== "directory" && replaced.kind === "directory") throw new Refusal("EISDIR");
    if (replaced.kind === "directory" && replaced.entries.size > 0) throw new Refusal("ENOTEMPTY");
  }

  #isWithin(directory: DirectoryInode, above: Inode): boolean {
    for (let one = directory; ; one = one.parent) {
      if (one === above) return true;
      if (one === one.parent) return false;
    }
  }

  /** What is on the medium becomes what programs see. */
  #recover(inode: Inode, random: SeededRandom, zeros: boolean): void {
    inode.opens = 0;
    inode.isLinked = true;
    if (inode.kind === "file") {
      inode.content.storeOlderThan(this.#options.nowMs() - this.#options.writeBackMs);
      inode.content.crash(random, zeros);
      this.#usedBytes += inode.content.size;
    }
    if (inode.kind !== "directory") return;
    inode.entries.clear();
    for (const [name, below] of inode.stored) {
      inode.entries.set(name, below);
      if (below.kind === "directory") below.parent = inode;
      this.#recover(below, random, zeros);
    }
  }
}
