/**
 * Where a probe's samples wait: a directory of its own below that of its region, the first that no living process has.
 * It holds the probe's identity, which so outlives the process.
 */
import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DirectoryInUse, type DirectoryLock, lockDirectory } from "../../shared/process/directory-lock.js";
import type { Log } from "../../shared/log/log.js";
import { type Backlog, emptySegment, openBacklog, segmentsIn } from "./backlog.js";

export interface SpoolPlace {
  directory: string;
  backlog: Backlog;
  release: DirectoryLock["release"];
}

/** @throws UserError where the directory cannot be used */
export async function takePlace(root: string, log: Log): Promise<SpoolPlace> {
  for (let number = 1; ; number++) {
    const place = await take(join(root, String(number)), log);
    if (place) return place;
  }
}

/** Null where a living process has it. */
async function take(directory: string, log: Log): Promise<SpoolPlace | null> {
  try {
    const { release } = await lockDirectory(directory);
    try {
      return { directory, backlog: await openBacklog(directory, log), release };
    } catch (error) {
      await release();
      throw error;
    }
  } catch (error) {
    if (error instanceof DirectoryInUse) return null;
    throw error;
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The identity of the process that has the directory; where none is written there, the one that is given. */
export async function identityIn(directory: string, log: Log, fresh: string): Promise<string> {
  const path = join(directory, "process");
  const written = await readFile(path, "utf8").catch(() => "");
  if (uuid.test(written.trim())) return written.trim();
  try {
    await writeFile(`${path}.new`, `${fresh}\n`);
    await rename(`${path}.new`, path);
  } catch (error) {
    log.warn("a restart will take this probe for another one", { path, error });
  }
  return fresh;
}

/**
 * Takes the directories of the same region whose processes have died and left samples there.
 *
 * @param settledMs a process that is being restarted takes its own within this time
 */
export async function adoptPlaces(root: string, own: string, log: Log, settledMs: number): Promise<SpoolPlace[]> {
  const adopted: SpoolPlace[] = [];
  for (const name of await readdir(root)) {
    const directory = join(root, name);
    if (!/^\d+$/.test(name) || directory === own) continue;
    try {
      if (!(await isLeft(directory, settledMs))) continue;
      const place = await take(directory, log);
      if (place) adopted.push(place);
    } catch (error) {
      // the others are held by us by now: one that is bad must not lose them
      log.warn("what another probe may have left cannot be read", {
        directory,
        error,
      });
    }
  }
  return adopted;
}

async function isLeft(directory: string, settledMs: number): Promise<boolean> {
  let newestMs = -Infinity;
  for (const number of await segmentsIn(directory)) {
    const file = await stat(emptySegment(directory, number).path).catch(ignoreMissing);
    if (file && file.size > 0) newestMs = Math.max(newestMs, file.mtimeMs);
  }
  // also of a clock that was set back
  return newestMs > -Infinity && Math.abs(Date.now() - newestMs) > settledMs;
}

/** A living owner deletes what it has delivered. */
function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
