/** The object behind a name in a directory. It lives on without a name while it is open. */
import { Content } from "./content.js";

interface Common {
  readonly number: number;
  /** Permissions only; they are not enforced, as for root. */
  mode: number;
  accessedMs: number;
  modifiedMs: number;
  changedMs: number;
  readonly bornMs: number;
  /** Has a name. */
  isLinked: boolean;
  /** How often it is open. */
  opens: number;
}

export interface FileInode extends Common {
  readonly kind: "file";
  content: Content;
}

export interface DirectoryInode extends Common {
  readonly kind: "directory";
  readonly entries: Map<string, Inode>;
  /** The entries as they are on the medium. */
  readonly stored: Map<string, Inode>;
  parent: DirectoryInode;
}

/** The file of a Unix socket. The simulated network knows who listens on it. */
export interface SocketInode extends Common {
  readonly kind: "socket";
}

export type Inode = FileInode | DirectoryInode | SocketInode;

function common(number: number, mode: number, nowMs: number): Common {
  const times = { accessedMs: nowMs, modifiedMs: nowMs, changedMs: nowMs, bornMs: nowMs };
  return { number, mode, ...times, isLinked: true, opens: 0 };
}

export function makeFile(number: number, mode: number, nowMs: number): FileInode {
  return { kind: "file", content: new Content(), ...common(number, mode, nowMs) };
}

export function makeSocket(number: number, mode: number, nowMs: number): SocketInode {
  return { kind: "socket", ...common(number, mode, nowMs) };
}

export function makeDirectory(
  number: number,
  mode: number,
  nowMs: number,
  parent: DirectoryInode | null,
): DirectoryInode {
  const made = { ...common(number, mode, nowMs), kind: "directory" as const, entries: new Map(), stored: new Map() };
  const directory = made as Omit<DirectoryInode, "parent"> as DirectoryInode;
  directory.parent = parent ?? directory;
  return directory;
}

/** Changes of the content, or of the entries. */
export function touch(inode: Inode, nowMs: number): void {
  inode.modifiedMs = inode.changedMs = nowMs;
}
