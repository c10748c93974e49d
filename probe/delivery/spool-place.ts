/**
 * The directory where a probe's samples wait: the first subdirectory of the region's directory that no living process
 * uses. It also stores the probe's identity, which therefore survives a restart.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DirectoryInUse, type DirectoryLock, lockDirectory } from "../../shared/process/directory-lock.js";
import type { Log } from "../../shared/log/log.js";
import { type Backlog, openBacklog } from "./backlog.js";

export interface SpoolPlace {
  directory: string;
  backlog: Backlog;
  release: DirectoryLock["release"];
}

/** @throws UserError if the directory cannot be used */
export async function takePlace(root: string, log: Log): Promise<SpoolPlace> {
  for (let number = 1; ; number++) {
    const place = await takeIfFree(join(root, String(number)), log);
    if (place) return place;
  }
}

/** Null if a living process uses it. */
export async function takeIfFree(directory: string, log: Log): Promise<SpoolPlace | null> {
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
  const written = await storedIn(path, log);
  // the stored identity stays for the next start
  if (written === null) return fresh;
  if (uuid.test(written.trim())) return written.trim();
  try {
    await writeFile(`${path}.new`, `${fresh}\n`);
    await rename(`${path}.new`, path);
  } catch (error) {
    log.warn("cannot store this probe's identity: after a restart it will count as another probe", { path, error });
  }
  return fresh;
}

/** Empty if there is no such file; null if it cannot be read. */
async function storedIn(path: string, log: Log): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    log.warn("cannot read this probe's identity: until its next start it counts as another probe", { path, error });
    return null;
  }
}
