/**
 * The directory where a probe's samples wait: the first subdirectory of the region's directory that no living process
 * uses. It also stores the probe's identity, which therefore survives a restart.
 */
import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DirectoryInUse, type DirectoryLock, lockDirectory } from "../../shared/process/directory-lock.js";
import type { Log } from "../../shared/log/log.js";
import { type Backlog, openBacklog } from "./backlog.js";
import { emptySegment, segmentsIn } from "./spool-segment.js";

export interface SpoolPlace {
  directory: string;
  backlog: Backlog;
  release: DirectoryLock["release"];
}

/** @throws UserError if the directory cannot be used */
export async function takePlace(root: string, log: Log): Promise<SpoolPlace> {
  for (let number = 1; ; number++) {
    const place = await take(join(root, String(number)), log);
    if (place) return place;
  }
}

/** Null if a living process uses it. */
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

/** The identity stored in the directory; if there is none, stores and returns `fresh`. */
export async function identityIn(directory: string, log: Log, fresh: string): Promise<string> {
  const path = join(directory, "process");
  const written = await readFile(path, "utf8").catch(() => "");
  if (uuid.test(written.trim())) return written.trim();
  try {
    await writeFile(`${path}.new`, `${fresh}\n`);
    await rename(`${path}.new`, path);
  } catch (error) {
    log.warn("cannot store this probe's identity: after a restart it will count as another probe", { path, error });
  }
  return fresh;
}

/**
 * Takes over the directories of the same region whose processes have died and left samples there.
 *
 * @param settledMs a restarting process takes its own directory again within this time
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
      // this process has already taken others: an error here must not lose them
      log.warn("cannot read a directory in which another probe may have left samples", {
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
  // the absolute value also covers a clock that was set back
  return newestMs > -Infinity && Math.abs(Date.now() - newestMs) > settledMs;
}

/** A living owner deletes what it has delivered. */
function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
