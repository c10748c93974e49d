/**
 * The queue between the schedule and the database. Samples always pass through a file, so the path that is used while
 * the database is away is exercised every second. Memory holds only a tenth of a second's samples, and a killed process
 * loses no more than those.
 *
 * Writes reach the kernel but are not fsynced: a crash of the operating system or a power failure may lose the last
 * half minute.
 *
 * While the disk takes no writes, samples wait in a bounded queue in memory and are delivered from there.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { gibibyte, mebibyte } from "../../shared/config/byte-units.js";
import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { makeSpoolFiles, type SpoolPlace, takeIfFree } from "./spool-files.js";
import { type Batch, emptySegment, segmentsIn } from "./spool-segment.js";
import { makeSpoolMemory, makeSpoolWriter } from "./spool-writer.js";

export interface SpoolOptions {
  /** The region's directory; each of its probes has a subdirectory. */
  directory: string;
  log: Log;
  /**
   * Maximum size on disk; beyond it the oldest samples are dropped. A usual region of fifteen venues fills a gibibyte
   * in six days, and the database refuses samples after seven anyway. At 500 samples a second it takes four and a half
   * hours.
   */
  maxBytes?: number;
  /** Also the maximum that is delivered twice after a crash. */
  segmentBytes?: number;
  /** Maximum number of samples in memory while the disk takes no writes. */
  maxInMemory?: number;
  writeEveryMs?: number;
  /** How long a dead process's directory is reserved for its successor. */
  adoptAfterMs?: number;
  /** A disk that does not answer within this time counts as broken. */
  answersWithinMs?: number;
  /** Minimum time between log messages about dropped samples. */
  logEveryMs?: number;
}

export interface SpoolStatus {
  /** Samples not delivered yet: on disk, in adopted directories, and in memory. */
  waiting: number;
  /** Samples dropped for lack of space, oldest first. */
  dropped: number;
  /** Samples found corrupt on disk. */
  corrupt: number;
  spoolBytes: number;
  /** Used share of `maxBytes`; 1: full. */
  spoolUsed: number;
  /** The current problem of the spool, as a sentence for operators; null if there is none. */
  trouble: string | null;
}

export interface Spool {
  /** This probe's identity: a UUID that survives a restart. */
  readonly process: string;
  add: (sample: Sample) => void;
  /** At most `size` of the oldest waiting samples; null if none waits. */
  next: (size: number) => Promise<Batch | null>;
  /** Sets the listener to call whenever `next` may return more. */
  onMore: (listener: () => void) => void;
  /** Writes the samples in memory. Resolves with whether all samples added before are on disk or delivered. */
  flush: () => Promise<boolean>;
  /** A separate spool in a subdirectory; null if it does not exist and `make` is false. */
  below: (name: string, make: boolean) => Promise<Spool | null>;
  status: () => SpoolStatus;
  /** Stops writing and releases the directory. Returns how many samples were only in memory, and are therefore lost. */
  close: () => Promise<number>;
}

/** Never fails because of the disk: a probe can measure without one. `status().trouble` describes the problem. */
export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const {
    directory: root,
    log,
    maxBytes = gibibyte,
    segmentBytes = mebibyte,
    maxInMemory = 50_000,
    writeEveryMs = 100,
    adoptAfterMs = 10_000,
    answersWithinMs = 5_000,
    logEveryMs = 60_000,
  } = options;
  let listener = () => {};
  const onMore = () => listener();
  const dropped = makeDroppedSamples(log, logEveryMs, () => status().waiting);
  const memory = makeSpoolMemory(maxInMemory, dropped.count);
  const files = makeSpoolFiles(root, log, { maxBytes, segmentBytes }, dropped.count);
  const writer = makeSpoolWriter(memory, files, log, { writeEveryMs, answersWithinMs }, onMore);
  await writer.start();
  const adoption = startAdoption(root, () => files.place()?.directory, log, adoptAfterMs, onMore);
  /** Whether the next batch comes from an adopted directory: own and adopted samples take turns. */
  let adoptedTurn = false;

  async function ownBatch(size: number): Promise<Batch | null> {
    memory.release("delivery");
    const batch = await files.next(size);
    if (batch)
      return whenDone(batch, () => {
        adoptedTurn = true;
        if (files.place()!.backlog.samples() === 0) void writer.truncateDelivered();
      });
    if (!writer.takesNothing() || memory.samples() === 0) return null;
    return whenDone(memory.hold("delivery", size), () => (adoptedTurn = true));
  }

  async function adoptedBatch(size: number): Promise<Batch | null> {
    const batch = await adoption.next(size);
    return batch && whenDone(batch, () => (adoptedTurn = false));
  }

  function places(): SpoolPlace[] {
    return [files.place(), ...adoption.places()].filter((one) => one !== null);
  }

  function status(): SpoolStatus {
    const all = places();
    const sum = (of: (one: SpoolPlace) => number) => all.reduce((total, one) => total + of(one), 0);
    return {
      waiting: memory.samples() + sum(({ backlog }) => backlog.samples()),
      dropped: dropped.total(),
      corrupt: adoption.corruptBefore() + sum(({ backlog }) => backlog.corrupt()),
      spoolBytes: sum(({ backlog }) => backlog.bytes()),
      spoolUsed: (files.place()?.backlog.bytes() ?? 0) / maxBytes,
      trouble: writer.trouble() ?? (dropped.isRecent() ? full() : null),
    };
  }

  function full(): string {
    return `${files.directory()} is full, and the oldest samples are dropped: restore the database, or make space`;
  }

  return {
    process: files.process(),
    add(sample) {
      memory.add(sample);
      writer.writeSoon();
    },
    async next(size) {
      const [first, second] = adoptedTurn ? [adoptedBatch, ownBatch] : [ownBatch, adoptedBatch];
      return (await first(size)) ?? (await second(size));
    },
    onMore: (given) => void (listener = given),
    flush: () => memory.flush(writer.write),
    async below(name, make) {
      const directory = join(root, name);
      // the spool itself reports a disk that cannot be read
      const there = make || (await stat(directory).catch(() => null));
      // samples read from quarantine are appended to it again: small segments limit the duplicates after a crash
      const small = Math.min(segmentBytes, 2 ** 16);
      return there ? openSpool({ ...options, directory, segmentBytes: small }) : null;
    },
    status,
    async close() {
      const adopting = adoption.stop();
      await writer.stop();
      await adopting;
      await files.close();
      for (const { backlog, release } of places()) {
        await backlog.close();
        await release();
      }
      const lost = memory.clear();
      dropped.finish(lost);
      return lost;
    },
  };
}

function whenDone(batch: Batch, then: () => void): Batch {
  return {
    samples: batch.samples,
    done() {
      batch.done();
      then();
    },
  };
}

// Takes over the directories of the same region whose processes have died, and delivers the samples left there.

/**
 * @param root the region's directory
 * @param own this process's directory; while it has none, nothing is adopted
 * @param settledMs a restarting process takes its own directory again within this time
 * @param onFound called when `next` may return more
 */
function startAdoption(root: string, own: () => string | undefined, log: Log, settledMs: number, onFound: () => void) {
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

// Counts the samples that a spool drops for lack of space, and logs them at intervals.

/** @param waiting how many samples the spool holds */
function makeDroppedSamples(log: Log, logEveryMs: number, waiting: () => number) {
  let total = 0;
  let logged = 0;
  let droppedAtMs = -Infinity;
  let loggedAtMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  return {
    count,
    total: () => total,
    /** Whether samples were dropped within the last interval. */
    isRecent: () => performance.now() - droppedAtMs < logEveryMs,
    /** Counts the samples that are lost at shutdown, and logs all that are not logged yet. */
    finish(lost: number): void {
      total += lost;
      if (total > logged) logDropped();
    },
  };

  function count(samples: number): void {
    total += samples;
    droppedAtMs = performance.now();
    const againMs = loggedAtMs + logEveryMs - droppedAtMs;
    if (againMs <= 0) logDropped();
    else timer ??= setTimeout(logDropped, againMs).unref();
  }

  function logDropped(): void {
    clearTimeout(timer);
    timer = undefined;
    log.error("dropped the oldest samples for lack of space", { dropped: total - logged, waiting: waiting() });
    logged = total;
    loggedAtMs = performance.now();
  }
}
