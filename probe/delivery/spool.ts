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
import { randomUUID } from "node:crypto";
import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import type { Batch } from "./backlog.js";
import { adoptPlaces, identityIn, type SpoolPlace, takePlace } from "./spool-place.js";
import { lineOf } from "./spool-record.js";
import { emptySegment, type Segment } from "./spool-segment.js";

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
  /** Also the most that is delivered twice after a crash. */
  segmentBytes?: number;
  /** Maximum number of samples in memory while the disk takes no writes. */
  maxInMemory?: number;
  writeEveryMs?: number;
  /** How long a dead process's directory is reserved for its successor. */
  adoptAfterMs?: number;
  /** A disk that does not answer within this time counts as broken. */
  answersWithinMs?: number;
  /** Minimum time between log messages about dropped samples. */
  tellEveryMs?: number;
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

/** Maximum number of samples in one write; formatting so many lines takes a millisecond. */
const writeAtOnce = 500;
const retryEveryMs = 1_000;

/** Never fails because of the disk: a probe can measure without one. `status().trouble` describes the problem. */
export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const {
    directory: root,
    log,
    maxBytes = 2 ** 30,
    segmentBytes = 2 ** 20,
    maxInMemory = 50_000,
    writeEveryMs = 100,
    adoptAfterMs = 10_000,
    answersWithinMs = 5_000,
    tellEveryMs = 60_000,
  } = options;
  /** Not on the disk, oldest first. */
  const memory: Sample[] = [];
  /** How many samples have been removed from the front of `memory` so far. */
  let passed = 0;
  /** How many samples at the front of `memory` are being written, and how many are in flight to the database. */
  let writing = 0;
  let flying = 0;
  /** The running flushes: how many samples at the front each still waits for, and whether one of them was dropped. */
  const flushes = new Set<{ left: number; lost: boolean }>();
  let writingSinceMs = 0;
  let place: SpoolPlace | null = null;
  let settling: Promise<SpoolPlace> | null = null;
  const adopted: SpoolPlace[] = [];
  let current: { segment: Segment; file: FileHandle } | null = null;
  let nextNumber = 1;
  /** The last error of the disk, while it takes no writes. */
  let broken: Error | null = null;
  let dropped = 0;
  let droppedTold = 0;
  let droppedAtMs = -Infinity;
  let toldAtMs = -Infinity;
  let telling: NodeJS.Timeout | undefined;
  let corruptBefore = 0;
  /** Whether the next batch comes from an adopted directory: own and adopted samples take turns. */
  let adoptedTurn = false;
  let closed = false;
  /** Serializes all operations on this spool's own files. */
  let line: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let listener = () => {};

  let process: string = randomUUID();
  let adoption = Promise.resolve();
  let adoptionTimer: NodeJS.Timeout;

  // a hanging disk must not keep the probe from measuring
  await Promise.race([settleIn(), silence(answersWithinMs)]).catch(failed);
  adoptAfter(adoptAfterMs);

  /** One at a time: a concurrent second call would take another directory. */
  function settleIn(): Promise<SpoolPlace> {
    return (settling ??= takeOne().finally(() => (settling = null)));
  }

  async function takeOne(): Promise<SpoolPlace> {
    const taken = await takePlace(root, log);
    nextNumber = taken.backlog.newest() + 1;
    process = await identityIn(taken.directory, log, process);
    return (place = taken);
  }

  function add(sample: Sample): void {
    memory.push(sample);
    if (memory.length > maxInMemory) dropFromMemory();
    if (closed) return;
    if (broken) arm(retryEveryMs);
    else if (memory.length >= writeAtOnce && writing === 0) void write();
    else arm(writeEveryMs);
  }

  function arm(afterMs: number): void {
    timer ??= setTimeout(() => void write(), afterMs);
  }

  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    return (line = line.then(writeAll));
  }

  async function writeAll(): Promise<void> {
    while (memory.length > 0) {
      const samples = memory.slice(0, writeAtOnce);
      const upTo = passed + samples.length;
      writing = samples.length;
      writingSinceMs = performance.now();
      try {
        await append(Buffer.from(samples.map(lineOf).join("")), writing);
        worked();
        pass(upTo - passed);
      } catch (error) {
        if (!(await makeRoom(error))) return failed(error);
      } finally {
        writing = 0;
      }
      listener();
    }
  }

  async function append(bytes: Buffer, samples: number): Promise<void> {
    const { directory, backlog } = place ?? (await settleIn());
    while (backlog.bytes() + bytes.length > maxBytes && (await dropOldest()));
    if (current && isOver(current.segment)) await seal();
    const { segment, file } = current ?? (await begin(directory));
    try {
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await file.write(bytes, done, bytes.length - done, segment.bytes + done);
        done += bytesWritten;
      }
    } catch (error) {
      // cut off a partial line, which would spoil the next one; a file that cannot be truncated is not written to again
      await file.truncate(segment.bytes).catch(seal);
      throw error;
    }
    segment.bytes += bytes.length;
    segment.samples += samples;
  }

  function isOver(segment: Segment): boolean {
    // a segment that could not be read, and was skipped, is no longer listed
    return segment.bytes >= segmentBytes || !place!.backlog.segments.includes(segment);
  }

  async function begin(directory: string) {
    const segment = emptySegment(directory, nextNumber++);
    const file = await open(segment.path, "wx");
    place!.backlog.segments.push(segment);
    return (current = { segment, file });
  }

  async function seal(): Promise<void> {
    const { file } = current!;
    current = null;
    await file.close().catch((error: unknown) => {
      log.warn("cannot close a file of the spool", { error });
    });
  }

  /**
   * Truncates the file once all of it is delivered: nothing is delivered twice, and the kernel need not write it out.
   */
  async function cut(): Promise<void> {
    if (!place || !current || current.segment.bytes === 0) return;
    const { segment, file } = current;
    if (place.backlog.samples() > 0 || place.backlog.segments[0] !== segment) return;
    try {
      await file.truncate(0);
      segment.bytes = segment.readTo = 0;
    } catch (error) {
      log.warn("cannot truncate a file of the spool: a new file replaces it", { error });
      await seal();
    }
  }

  /** On a full disk, drops the oldest samples once memory is half full as well. */
  async function makeRoom(error: unknown): Promise<boolean> {
    const { code } = error as NodeJS.ErrnoException;
    const isFull = ["ENOSPC", "EDQUOT", "EFBIG"].includes(code ?? "");
    return isFull && memory.length > maxInMemory / 2 && dropOldest();
  }

  async function dropOldest(): Promise<boolean> {
    const oldest = await place?.backlog.drop();
    if (!oldest) return false;
    if (oldest.segment === current?.segment) await seal();
    countDropped(oldest.samples);
    return true;
  }

  function dropFromMemory(): void {
    const kept = Math.max(writing, flying);
    // in larger pieces, because each splice moves all samples behind it
    const gone = memory.splice(kept, Math.ceil(maxInMemory / 100)).length;
    for (const flush of flushes) flush.lost ||= flush.left > kept;
    countDropped(gone);
  }

  function countDropped(samples: number): void {
    dropped += samples;
    droppedAtMs = performance.now();
    const againMs = toldAtMs + tellEveryMs - droppedAtMs;
    if (againMs <= 0) tellDropped();
    else telling ??= setTimeout(tellDropped, againMs).unref();
  }

  function tellDropped(): void {
    clearTimeout(telling);
    telling = undefined;
    log.error("dropped the oldest samples for lack of space", {
      dropped: dropped - droppedTold,
      waiting: status().waiting,
    });
    droppedTold = dropped;
    toldAtMs = performance.now();
  }

  function pass(samples: number): void {
    if (samples <= 0) return;
    memory.splice(0, samples);
    passed += samples;
    for (const flush of flushes) flush.left -= samples;
  }

  function failed(error: unknown): void {
    if (!broken)
      log.error("cannot write samples to the disk: they wait in memory until the disk works again", {
        directory: place?.directory ?? root,
        error,
      });
    broken = error as Error;
    if (!closed) arm(retryEveryMs);
    listener();
  }

  function worked(): void {
    if (broken) log.info("writing samples to the disk again");
    broken = null;
  }

  async function next(size: number): Promise<Batch | null> {
    const own = () => ownBatch(size);
    const [first, second] = adoptedTurn ? [() => adoptedBatch(size), own] : [own, () => adoptedBatch(size)];
    return (await first()) ?? (await second());
  }

  async function ownBatch(size: number): Promise<Batch | null> {
    flying = 0;
    const batch = await place?.backlog.next(size, () => current?.segment);
    if (batch)
      return {
        ...batch,
        done() {
          batch.done();
          adoptedTurn = true;
          if (place!.backlog.samples() === 0) line = line.then(cut);
        },
      };
    return takesNothing() && memory.length > 0 ? batchFromMemory(size) : null;
  }

  function takesNothing(): boolean {
    const silentMs = writing > 0 ? performance.now() - writingSinceMs : 0;
    return broken !== null || silentMs > answersWithinMs;
  }

  function batchFromMemory(size: number): Batch {
    const samples = memory.slice(0, size);
    const upTo = passed + samples.length;
    flying = samples.length;
    return {
      samples,
      done() {
        flying = 0;
        pass(upTo - passed);
        adoptedTurn = true;
      },
    };
  }

  async function adoptedBatch(size: number): Promise<Batch | null> {
    for (let one = adopted[0]; one; one = adopted[0]) {
      const batch = await one.backlog.next(size);
      if (batch)
        return {
          ...batch,
          done() {
            batch.done();
            adoptedTurn = false;
          },
        };
      adopted.shift();
      corruptBefore += one.backlog.corrupt();
      await one.release();
    }
    return null;
  }

  async function adopt(): Promise<void> {
    try {
      const own = place?.directory;
      const found = own ? await adoptPlaces(root, own, log, adoptAfterMs) : [];
      adopted.push(...found);
      for (const { directory, backlog } of found)
        log.info("delivering samples that another probe left", {
          directory,
          samples: backlog.samples(),
        });
      if (found.length > 0) listener();
    } catch (error) {
      log.warn("cannot look for samples that other probes left", { error });
    }
    if (!closed) adoptAfter(6 * adoptAfterMs);
  }

  function adoptAfter(ms: number): void {
    adoptionTimer = setTimeout(() => {
      adoption = adopt();
    }, ms);
    adoptionTimer.unref();
  }

  function status(): SpoolStatus {
    const places = [...(place ? [place] : []), ...adopted];
    const sum = (of: (one: SpoolPlace) => number) => places.reduce((total, one) => total + of(one), 0);
    return {
      waiting: memory.length + sum(({ backlog }) => backlog.samples()),
      dropped,
      corrupt: corruptBefore + sum(({ backlog }) => backlog.corrupt()),
      spoolBytes: sum(({ backlog }) => backlog.bytes()),
      spoolUsed: (place?.backlog.bytes() ?? 0) / maxBytes,
      trouble: trouble(),
    };
  }

  function trouble(): string | null {
    if (broken)
      return `cannot write samples to ${place?.directory ?? root} (${broken.message}): they wait in memory; repair the disk`;
    if (takesNothing())
      return `the disk of ${place?.directory ?? root} has not answered for ${Math.round((performance.now() - writingSinceMs) / 1000)} s: samples wait in memory; repair the disk`;
    if (performance.now() - droppedAtMs < tellEveryMs)
      return `${place?.directory ?? root} is full, and the oldest samples are dropped: restore the database, or make space`;
    return null;
  }

  return {
    process,
    add,
    next,
    onMore: (given) => void (listener = given),
    async flush() {
      const flush = { left: memory.length, lost: false };
      flushes.add(flush);
      await write();
      flushes.delete(flush);
      return flush.left <= 0 && !flush.lost;
    },
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
      closed = true;
      clearTimeout(adoptionTimer);
      await write();
      await (line = line.then(cut));
      await adoption;
      const isEmpty = current?.segment.bytes === 0;
      if (current) await seal();
      if (isEmpty) await place!.backlog.next(1);
      for (const one of [...(place ? [place] : []), ...adopted]) {
        await one.backlog.close();
        await one.release();
      }
      const lost = memory.length;
      memory.length = 0;
      dropped += lost;
      if (dropped > droppedTold) tellDropped();
      return lost;
    },
  };
}

async function silence(forMs: number): Promise<never> {
  await sleep(forMs, undefined, { ref: false });
  throw new Error(`the disk has not answered for ${forMs / 1000} s`);
}
