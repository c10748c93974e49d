/** What `stat` and `readdir` return: objects of node's own classes. */
import fs, { constants, type Dirent, type Stats } from "node:fs";
import type { Inode } from "./inode.js";
import { unsupported } from "./system-error.js";

const { S_IFREG, S_IFDIR, S_IFSOCK } = constants;
const types = { file: S_IFREG, directory: S_IFDIR, socket: S_IFSOCK };
/** As in libuv. */
const entryTypes = { file: 1, directory: 2, socket: 5 };
const blockBytes = 4096;

export function statusOf(inode: Inode, options: { bigint?: boolean } = {}): Stats {
  if (options.bigint) throw unsupported("stat with bigint");
  const size = inode.kind === "file" ? inode.content.size : inode.kind === "directory" ? blockBytes : 0;
  const { accessedMs, modifiedMs, changedMs, bornMs } = inode;
  const fields = {
    ...{ dev: 1, mode: types[inode.kind] | inode.mode, nlink: linksOf(inode), uid: 0, gid: 0, rdev: 0 },
    ...{ blksize: blockBytes, ino: inode.number, size, blocks: Math.ceil(size / blockBytes) * (blockBytes / 512) },
    ...{ atimeMs: accessedMs, mtimeMs: modifiedMs, ctimeMs: changedMs, birthtimeMs: bornMs },
    ...{ atime: new Date(accessedMs), mtime: new Date(modifiedMs) },
    ...{ ctime: new Date(changedMs), birthtime: new Date(bornMs) },
  };
  const status = Object.create(fs.Stats.prototype) as Stats;
  for (const [name, value] of Object.entries(fields))
    Object.defineProperty(status, name, { value, enumerable: true, writable: true, configurable: true });
  return status;
}

function linksOf(inode: Inode): number {
  if (!inode.isLinked) return 0;
  if (inode.kind !== "directory") return 1;
  return 2 + [...inode.entries.values()].filter(({ kind }) => kind === "directory").length;
}

export function entryOf(name: string, inode: Inode, path: string): Dirent {
  const Entry = fs.Dirent as unknown as new (name: string, type: number, path: string) => Dirent;
  return new Entry(name, entryTypes[inode.kind], path);
}
