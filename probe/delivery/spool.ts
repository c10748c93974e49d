/**
 * The queue between the schedule and the database. It is a file at all times, not only in trouble: what happens while
 * the database is away is what happens every second, memory holds a tenth of a second's samples, and a process that is
 * killed loses no more than those.
 *
 * It is written to the kernel and not fsynced: a crash of the operating system or a power failure may cost its last
 * half minute.
 *
 * Where the disk does not take them, samples wait in memory, bounded, and go to the database from there.
 */
import { randomUUID } from "node:crypto";
import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { type Batch, emptySegment, type Segment } from "./backlog.js";
import { adoptPlaces, identityIn, type SpoolPlace, takePlace } from "./spool-place.js";
import { lineOf } from "./spool-record.js";

export interface SpoolOptions {
  /** Of the region; each of its probes has a directory below it. */
  directory: string;
  log: Log;
  /**
   * What waits on the disk at most; beyond it the oldest go. A usual region of fifteen venues takes six days for a
   * gibibyte, and after seven the database refuses a sample anyway; at 500 samples a second it is four hours and a
   * half.
   */
  maxBytes?: number;
  /** After a crash at most so much is delivered twice. */
  segmentBytes?: number;
  /** Samples that wait in memory at most while the disk takes none. */
  maxInMemory?: number;
  writeEveryMs?: number;
  /** How long a dead process's directory is left to its successor. */
  adoptAfterMs?: number;
  /** A disk that does not answer in this time is as good as broken. */
  answersWithinMs?: number;
  /** What is dropped is told of at most so often. */
  tellEveryMs?: number;
}

export interface SpoolStatus {
  /** Taken and not delivered: on the disk, adopted ones included, and in memory. */
  waiting: number;
  /** Given up, the oldest first, for want of room. */
  dropped: number;
  /** Found broken on the disk. */
  corrupt: number;
  spoolBytes: number;
  /** How much of what it may hold is taken; 1: full. */
  spoolUsed: number;
  /** What is wrong with the spool, in a sentence for operators; null while all is well. */
  trouble: string | null;
}

export interface Spool {
  /** A UUID: who this probe is. The same after a restart. */
  readonly process: string;
  add: (sample: Sample) => void;
  /** The oldest that wait, at most so many; null where there are none yet. */
  next: (size: number) => Promise<Batch | null>;
  /** Called whenever more can be had from `next`. */
  onMore: (listener: () => void) => void;
  /** Writes what is in memory. Resolves with whether all that was added before is on the disk, or delivered. */
  flush: () => Promise<boolean>;
  /** A spool of its own in a directory below this one's; null where there is none and it is not to be made. */
  below: (name: string, make: boolean) => Promise<Spool | null>;
  status: () => SpoolStatus;
  /**
   * Ends the writing, and lets others have the directory. Returns how many samples are only in memory, and so are lost.
   */
  close: () => Promise<number>;
}

/** In one write at most; so many lines are made in a millisecond. */
const writeAtOnce = 500;
const retryEveryMs = 1_000;

/**
 * Never fails for the sake of a disk: a probe can measure without one. What is wrong with it stands in
 * `status().trouble`.
 */
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
  /** How many were taken off the front of `memory` so far. */
  let passed = 0;
  /** So many at the front are being written, or recorded. */
  let writing = 0;
  let flying = 0;
  /** Of each flush that is under way: so many at the front it is about, and whether one of them was given up. */
  const flushes = new Set<{ left: number; lost: boolean }>();
  let writingSinceMs = 0;
  let place: SpoolPlace | null = null;
  let settling: Promise<SpoolPlace> | null = null;
  const adopted: SpoolPlace[] = [];
  let current: { segment: Segment; file: FileHandle } | null = null;
  let nextNumber = 1;
  /** What the disk last said, while it takes nothing. */
  let broken: Error | null = null;
  let dropped = 0;
  let droppedTold = 0;
  let droppedAtMs = -Infinity;
  let toldAtMs = -Infinity;
  let telling: NodeJS.Timeout | undefined;
  let corruptBefore = 0;
  /** Adopted ones have their turn after each batch of our own. */
  let adoptedTurn = false;
  let closed = false;
  /** Everything that is done to our own files, one after the other. */
  let line: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let listener = () => {};

  let process: string = randomUUID();
  let adoption = Promise.resolve();
  let adoptionTimer: NodeJS.Timeout;

  // a disk that hangs keeps no probe from measuring
  await Promise.race([settleIn(), silence(answersWithinMs)]).catch(failed);
  adoptAfter(adoptAfterMs);

  /** One at a time: of two the second would take another place. */
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
      // no half line may be in the way of the next; a file that cannot be cut is not written to any more
      await file.truncate(segment.bytes).catch(seal);
      throw error;
    }
    segment.bytes += bytes.length;
    segment.samples += samples;
  }

  function isOver(segment: Segment): boolean {
    // also where it could not be read, and was passed over
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
      log.warn("a file of the spool cannot be closed", { error });
    });
  }

  /** What is delivered is cut off, so that nothing is delivered twice, and the disk has nothing to do. */
  async function cut(): Promise<void> {
    if (!place || !current || current.segment.bytes === 0) return;
    const { segment, file } = current;
    if (place.backlog.samples() > 0 || place.backlog.segments[0] !== segment) return;
    try {
      await file.truncate(0);
      segment.bytes = segment.readTo = 0;
    } catch (error) {
      log.warn("a file of the spool cannot be cut, and is replaced", { error });
      await seal();
    }
  }

  /** On a full disk the oldest go as soon as memory is filling up as well. */
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
    // in pieces, since each one moves all that is behind it
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
    log.error("samples dropped, the oldest, for want of room", {
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
      log.error("samples cannot be written to the disk: they wait in memory until it is put right", {
        directory: place?.directory ?? root,
        error,
      });
    broken = error as Error;
    if (!closed) arm(retryEveryMs);
    listener();
  }

  function worked(): void {
    if (broken) log.info("samples are written to the disk again");
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
        log.info("samples that another probe left are delivered", {
          directory,
          samples: backlog.samples(),
        });
      if (found.length > 0) listener();
    } catch (error) {
      log.warn("what other probes left cannot be looked for", { error });
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
      return `samples cannot be written to ${place?.directory ?? root} (${broken.message}): they wait in memory; put the disk right`;
    if (takesNothing())
      return `the disk of ${place?.directory ?? root} has not answered for ${Math.round((performance.now() - writingSinceMs) / 1000)} s: samples wait in memory; put the disk right`;
    if (performance.now() - droppedAtMs < tellEveryMs)
      return `${place?.directory ?? root} is full, and the oldest samples are given up: bring the database back, or make room`;
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
      // of a disk that cannot be read the spool itself tells
      const there = make || (await stat(directory).catch(() => null));
      // what is read there is written to its end again: little of it may be there twice after a restart
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
  throw new Error(`it has not answered for ${forMs / 1000} s`);
}
