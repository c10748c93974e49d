/** Takes over the directories of the same region whose processes have died, and delivers the samples left there. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../shared/log/log.js";
import type { Batch } from "./backlog.js";
import { type SpoolPlace, takeIfFree } from "./spool-place.js";
import { emptySegment, segmentsIn } from "./spool-segment.js";

/**
 * @param root the region's directory
 * @param own this process's directory; while it has none, nothing is adopted
 * @param settledMs a restarting process takes its own directory again within this time
 * @param onFound called when `next` may return more
 */
export function startAdoption(
  root: string,
  own: () => string | undefined,
  log: Log,
  settledMs: number,
  onFound: () => void,
) {
  const adopted: SpoolPlace[] = [];
  let corruptBefore = 0;
  let search = Promise.resolve();
  let timer: NodeJS.Timeout;
  let stopped = false;
  searchAfter(settledMs);

  return {
    /** Adopted directories that are not fully delivered yet. */
    places: (): readonly SpoolPlace[] => adopted,
    /** Corrupt lines in directories that were delivered and released. */
    corruptBefore: () => corruptBefore,
    /** As in a backlog. */
    async next(size: number): Promise<Batch | null> {
      for (const one of [...adopted]) {
        const batch = await one.backlog.next(size);
        if (batch) return batch;
        // files that cannot be read now are tried again later
        if (one.backlog.segments.length > 0) continue;
        adopted.splice(adopted.indexOf(one), 1);
        corruptBefore += one.backlog.corrupt();
        await one.release();
      }
      return null;
    },
    /** Starts no further search. Resolves at the end of the running one. */
    stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      return search;
    },
  };

  function searchAfter(ms: number): void {
    timer = setTimeout(() => {
      search = adopt();
    }, ms);
    timer.unref();
  }

  async function adopt(): Promise<void> {
    try {
      const directory = own();
      const found = directory ? await adoptPlaces(root, directory, log, settledMs) : [];
      adopted.push(...found);
      for (const { directory, backlog } of found)
        log.info("delivering samples that another probe left", { directory, samples: backlog.samples() });
      if (found.length > 0) onFound();
    } catch (error) {
      log.warn("cannot look for samples that other probes left", { error });
    }
    if (!stopped) searchAfter(6 * settledMs);
  }
}

async function adoptPlaces(root: string, own: string, log: Log, settledMs: number): Promise<SpoolPlace[]> {
  const adopted: SpoolPlace[] = [];
  for (const name of await readdir(root)) {
    const directory = join(root, name);
    if (!/^\d+$/.test(name) || directory === own) continue;
    try {
      if (!(await isLeft(directory, settledMs))) continue;
      const place = await takeIfFree(directory, log);
      if (place) adopted.push(place);
    } catch (error) {
      // this process has already taken others: an error here must not lose them
      log.warn("cannot read a directory in which another probe may have left samples", { directory, error });
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
