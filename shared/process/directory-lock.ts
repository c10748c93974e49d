import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "./user-error.js";

/**
 * A lock on a directory that one process holds, and that ends with it.
 *
 * PostgreSQL's own (postmaster.pid) does nothing in this build: two hosts on
 * one directory both start, and one loses rows that it has acknowledged. Node
 * has no flock. A file with a process id has to be judged by who finds it: ids
 * are used again, mean nothing in another container, and two that find a dead
 * one at the same time can both take it over.
 *
 * So a contender listens on a Unix socket in the directory: the kernel answers
 * for it while it lives, and refuses once it is dead, however it died. Each
 * has a socket file of its own, under a name that never comes again, so that
 * removing a dead one cannot hit a living one. It shows its own first and
 * looks for others then: of two contenders at least one sees the other, and
 * who sees another yields. If both yield, both try again.
 */
export interface DirectoryLock {
  /** May be called again, to no effect. */
  release: () => Promise<void>;
}

const attempts = 5;

/** A living process has the lock. */
export class DirectoryInUse extends UserError {}

/**
 * Creates the directory if need be.
 *
 * @throws DirectoryInUse when another process holds it, UserError when it cannot be written to; each in one sentence
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  for (let attempt = 1; ; attempt++) {
    const claim = await makeClaim(directory).catch((error: unknown) => {
      throw unusable(directory, error as NodeJS.ErrnoException);
    });
    const rival = await livingRival(directory, claim.name);
    if (!rival) return { release: claim.withdraw };
    await claim.withdraw();
    if (attempt === attempts) throw heldBy(directory, rival);
    await delay(10 + Math.random() * 40);
  }
}

interface Claim {
  name: string;
  withdraw: () => Promise<void>;
}

/** The file gets its name when it is listened on: a claim that can be seen and refuses connections is a dead one. */
async function makeClaim(directory: string): Promise<Claim> {
  await mkdir(directory, { recursive: true });
  const unique = `${process.pid}.${randomBytes(8).toString("hex")}`;
  const name = `lock.${unique}`;
  const server = createServer((socket) => socket.destroy());
  try {
    await withSocketPath(directory, `claim.${unique}`, (path) => listenOn(server, path));
    await rename(join(directory, `claim.${unique}`), join(directory, name));
  } catch (error) {
    // who tries again for hours must not gather sockets
    server.close();
    throw error;
  }
  return {
    name,
    async withdraw() {
      await unlink(join(directory, name)).catch(ignoreMissing);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function listenOn(server: Server, path: string): Promise<void> {
  server.listen(path);
  await once(server, "listening");
  server.unref();
  server.on("error", () => {
    // Connections that cannot be accepted (no file descriptors left) change nothing: the kernel has answered.
  });
}

/** The name of a living claim other than ours. Dead ones are removed on the way. */
async function livingRival(directory: string, ours: string): Promise<string | null> {
  for (const name of await readdir(directory)) {
    if (name.startsWith("claim.")) await sweepClaim(directory, name);
    if (!name.startsWith("lock.") || name === ours) continue;
    if (await answers(directory, name)) return name;
    await unlink(join(directory, name)).catch(ignoreMissing);
  }
  return null;
}

/** From its file to its listening a claim takes milliseconds. */
const claimedWithinMs = 60_000;

/**
 * Removes what a process left that was killed before its claim had its name. A young one that refuses connections may
 * be about to listen. Should an old one do so too, its process fails for want of the file; it cannot hold the
 * directory.
 */
async function sweepClaim(directory: string, name: string): Promise<void> {
  const path = join(directory, name);
  const file = await stat(path).catch(ignoreMissing);
  if (!file || Date.now() - file.mtimeMs < claimedWithinMs) return;
  if (!(await answers(directory, name))) await unlink(path).catch(ignoreMissing);
}

/** Refused: dead. Missing: withdrawn. Any other error, such as a lack of rights, is no proof of death. */
async function answers(directory: string, name: string): Promise<boolean> {
  return withSocketPath(directory, name, async (path) => {
    const socket = connect(path);
    try {
      await once(socket, "connect");
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code !== "ECONNREFUSED" && code !== "ENOENT";
    } finally {
      socket.destroy();
    }
  });
}

/** The shortest limit among the systems that Node runs on (macOS), less the closing zero. */
const socketPathLimitBytes = 103;

/** The kernel takes short paths only. On Linux a directory that is too deep can be named by a descriptor. */
async function withSocketPath<T>(directory: string, name: string, use: (path: string) => Promise<T>): Promise<T> {
  const path = join(directory, name);
  if (Buffer.byteLength(path) <= socketPathLimitBytes) return use(path);
  if (process.platform !== "linux")
    throw Object.assign(new Error("its path is too long for a Unix socket"), {
      code: "ENAMETOOLONG",
    });
  const handle = await open(directory);
  try {
    return await use(`/proc/self/fd/${handle.fd}/${name}`);
  } finally {
    await handle.close();
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

function heldBy(directory: string, claim: string): Error {
  const pid = claim.split(".")[1];
  return new DirectoryInUse(
    `The directory ${directory} is in use by process ${pid}: stop that process, or choose another directory with DATA_DIR.`,
  );
}

function unusable(directory: string, error: NodeJS.ErrnoException): Error {
  return new UserError(
    `The directory ${directory} cannot be used (${error.message}): it must be a directory that this user can write to and that can hold Unix sockets; choose another with DATA_DIR.`,
    { cause: error },
  );
}
