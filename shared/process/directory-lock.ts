import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "./user-error.js";

/**
 * A lock on a directory that one process holds, and that ends with the process.
 *
 * PostgreSQL's own lock (postmaster.pid) does nothing in this build: two hosts on one directory both start, and one
 * loses rows that it has acknowledged. Node has no flock. A file with a process id is not reliable: ids are reused,
 * mean nothing in another container, and two processes that find a dead one at the same time can both take it over.
 *
 * So each contender listens on a Unix socket in the directory: the kernel accepts connections while the process lives,
 * and refuses them once it is dead, however it died. Each socket file has a unique name, so removing a dead one cannot
 * remove a living one. A contender creates its own file first and looks for others afterwards: of two contenders at
 * least one sees the other and yields. If both yield, both retry.
 */
export interface DirectoryLock {
  /** Calling it again has no effect. */
  release: () => Promise<void>;
}

const mostAttempts = 5;

/** A living process holds the lock. */
export class DirectoryInUse extends UserError {}

/**
 * Creates the directory if it is missing.
 *
 * @throws DirectoryInUse when another process holds it, UserError when it cannot be used
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  for (let attempt = 1; ; attempt++) {
    const claim = await makeClaim(directory).catch((error: unknown) => {
      throw unusableDirectory(directory, error as NodeJS.ErrnoException);
    });
    const rival = await livingRival(directory, claim.name).catch(async (error: unknown) => {
      // otherwise this process's next attempt would mistake its own leftover claim for a rival's
      await claim.withdraw();
      throw unusableDirectory(directory, error as NodeJS.ErrnoException);
    });
    if (!rival) return { release: claim.withdraw };
    await claim.withdraw();
    if (attempt === mostAttempts) throw heldBy(directory, rival);
    await delay(10 + Math.random() * 40);
  }
}

interface Claim {
  name: string;
  withdraw: () => Promise<void>;
}

/** The file is renamed once its socket listens: a `lock.` file that refuses connections is a dead one. */
async function makeClaim(directory: string): Promise<Claim> {
  await mkdir(directory, { recursive: true });
  const unique = `${process.pid}.${randomBytes(8).toString("hex")}`;
  const name = `lock.${unique}`;
  const server = createServer((socket) => socket.destroy());
  try {
    await withSocketPath(directory, `claim.${unique}`, (path) => listenOn(server, path));
    await rename(join(directory, `claim.${unique}`), join(directory, name));
  } catch (error) {
    // a caller that retries for hours must not accumulate sockets
    server.close();
    throw error;
  }
  return {
    name,
    async withdraw() {
      await new Promise((resolve) => server.close(resolve));
      // A file whose socket refuses connections is dead: if it cannot be removed now, the next contender removes it.
      await unlink(join(directory, name)).catch(() => {});
    },
  };
}

async function listenOn(server: Server, path: string): Promise<void> {
  server.listen(path);
  await once(server, "listening");
  server.unref();
  server.on("error", () => {
    // a connection that cannot be accepted (no file descriptors left) does no harm: the kernel has answered
  });
}

/** The name of a living claim other than ours. Removes dead ones on the way. */
async function livingRival(directory: string, ours: string): Promise<string | null> {
  for (const name of await readdir(directory)) {
    if (name.startsWith("claim.")) await sweepClaim(directory, name);
    if (!name.startsWith("lock.") || name === ours) continue;
    if (await ownerAnswers(directory, name)) return name;
    await unlink(join(directory, name)).catch(ignoreMissing);
  }
  return null;
}

/** A claim listens within milliseconds of the creation of its file. */
const claimedWithinMs = 60_000;

/**
 * Removes the file of a process that was killed before it renamed its claim. A recent file that refuses connections may
 * be about to listen. If an old one is too, its process fails because the file is missing, so it cannot hold the
 * directory.
 */
async function sweepClaim(directory: string, name: string): Promise<void> {
  const path = join(directory, name);
  const file = await stat(path).catch(ignoreMissing);
  if (!file || Date.now() - file.mtimeMs < claimedWithinMs) return;
  if (!(await ownerAnswers(directory, name))) await unlink(path).catch(ignoreMissing);
}

/** Refused: dead. Missing: withdrawn. Any other error, such as missing rights, does not prove that it is dead. */
async function ownerAnswers(directory: string, name: string): Promise<boolean> {
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

/** The lowest limit of all systems that Node runs on (macOS), without the terminating zero. */
const socketPathLimitBytes = 103;

/** Socket paths are limited in length. On Linux, a longer directory can be addressed through a descriptor. */
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

function unusableDirectory(directory: string, error: NodeJS.ErrnoException): Error {
  return new UserError(
    `The directory ${directory} cannot be used (${error.message}): it must be a directory that this user can write to and that can hold Unix sockets; choose another with DATA_DIR.`,
    { cause: error },
  );
}
