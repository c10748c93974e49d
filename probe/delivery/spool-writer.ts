/** Moves samples from memory to the spool's files, and keeps trying while the disk takes no writes. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import type { SpoolFiles } from "./spool-files.js";
import { type Batch, lineOf } from "./spool-segment.js";

/** Maximum number of samples in one write; formatting so many lines takes a millisecond. */
const writeAtOnce = 500;
const retryEveryMs = 1_000;

/**
 * @param answersWithinMs a disk that does not answer within this time counts as broken
 * @param onWritten called after each write, also after a failed one
 */
export function makeSpoolWriter(
  memory: SpoolMemory,
  files: SpoolFiles,
  log: Log,
  { writeEveryMs, answersWithinMs }: { writeEveryMs: number; answersWithinMs: number },
  onWritten: () => void,
) {
  /** When the running write began. */
  let writingSinceMs: number | null = null;
  /** The last error of the disk, while it takes no writes. */
  let broken: Error | null = null;
  /** Serializes all operations on this spool's own files. */
  let queue: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  return {
    /** Takes a directory. Also resolves when the disk fails or does not answer. */
    async start(): Promise<void> {
      // a hanging disk must not keep the probe from measuring
      await Promise.race([files.settleIn(), failAfter(answersWithinMs)]).catch(failed);
    },
    /** Call it after a sample was added to memory. */
    writeSoon(): void {
      if (stopped) return;
      if (broken) arm(retryEveryMs);
      else if (memory.samples() >= writeAtOnce && writingSinceMs === null) void write();
      else arm(writeEveryMs);
    },
    write,
    truncateDelivered,
    /** The disk has failed, or does not answer. */
    takesNothing: () => broken !== null || silentMs() > answersWithinMs,
    /** The trouble with the disk, as a sentence for operators; null if there is none. */
    trouble(): string | null {
      if (broken)
        return `cannot write samples to ${files.directory()} (${broken.message}): they wait in memory; repair the disk`;
      if (silentMs() > answersWithinMs)
        return `the disk of ${files.directory()} has not answered for ${Math.round(silentMs() / 1000)} s: samples wait in memory; repair the disk`;
      return null;
    },
    /** Writes all samples in memory for the last time. */
    async stop(): Promise<void> {
      stopped = true;
      await write();
      await truncateDelivered();
    },
  };

  function arm(afterMs: number): void {
    timer ??= setTimeout(() => void write(), afterMs);
  }

  /** Writes all samples in memory. Also resolves when the disk does not take them. */
  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    return (queue = queue.then(writeAll));
  }

  function truncateDelivered(): Promise<void> {
    return (queue = queue.then(files.truncateDelivered));
  }

  async function writeAll(): Promise<void> {
    while (memory.samples() > 0) {
      const { samples, done } = memory.hold("writer", writeAtOnce);
      writingSinceMs = performance.now();
      try {
        await files.append(Buffer.from(samples.map(lineOf).join("")), samples.length);
        if (broken) log.info("writing samples to the disk again");
        broken = null;
        done();
      } catch (error) {
        if (!(await makeRoom(error))) return failed(error);
      } finally {
        memory.release("writer");
        writingSinceMs = null;
      }
      onWritten();
    }
  }

  /** On a full disk, drops the oldest samples once memory is half full as well. */
  async function makeRoom(error: unknown): Promise<boolean> {
    const { code } = error as NodeJS.ErrnoException;
    const isFull = ["ENOSPC", "EDQUOT", "EFBIG"].includes(code ?? "");
    return isFull && memory.isHalfFull() && files.dropOldest();
  }

  function failed(error: unknown): void {
    if (!broken)
      log.error("cannot write samples to the disk: they wait in memory until the disk works again", {
        directory: files.directory(),
        error,
      });
    broken = error as Error;
    if (!stopped) arm(retryEveryMs);
    onWritten();
  }

  function silentMs(): number {
    return writingSinceMs === null ? 0 : performance.now() - writingSinceMs;
  }
}

async function failAfter(forMs: number): Promise<never> {
  await sleep(forMs, undefined, { ref: false });
  throw new Error(`the disk has not answered for ${forMs / 1000} s`);
}

// A bounded queue in memory of the samples that are not on the disk.

type SpoolMemory = ReturnType<typeof makeSpoolMemory>;

/** Both may hold the same samples: while the disk hangs, samples that are being written are also delivered. */
type Holder = "writer" | "delivery";

/** @param onDropped gets the number of samples that were dropped because there were more than `maxSamples` */
export function makeSpoolMemory(maxSamples: number, onDropped: (samples: number) => void) {
  /** Oldest first. */
  const memory: Sample[] = [];
  /** How many samples have been removed from the front of `memory` so far. */
  let passed = 0;
  /** How many samples at the front of `memory` each holder has. */
  const held = { writer: 0, delivery: 0 };
  /** The running flushes: how many samples at the front each still waits for, and whether one of them was dropped. */
  const flushes = new Set<{ left: number; lost: boolean }>();

  return {
    samples: () => memory.length,
    isHalfFull: () => memory.length > maxSamples / 2,
    add(sample: Sample): void {
      memory.push(sample);
      if (memory.length > maxSamples) dropOldest();
    },
    /** At most `size` of the oldest. They are not dropped before `done`, `release` or the holder's next `hold`. */
    hold(holder: Holder, size: number): Batch {
      const samples = memory.slice(0, size);
      const upTo = passed + samples.length;
      held[holder] = samples.length;
      return {
        samples,
        done() {
          held[holder] = 0;
          // the other holder may have removed some of them
          pass(upTo - passed);
        },
      };
    },
    release: (holder: Holder) => void (held[holder] = 0),
    /** Resolves after `write` with whether all samples that are here now are done. */
    async flush(write: () => Promise<void>): Promise<boolean> {
      const flush = { left: memory.length, lost: false };
      flushes.add(flush);
      await write();
      flushes.delete(flush);
      return flush.left <= 0 && !flush.lost;
    },
    /** Returns how many samples there were. */
    clear: () => memory.splice(0).length,
  };

  function pass(samples: number): void {
    if (samples <= 0) return;
    memory.splice(0, samples);
    passed += samples;
    for (const flush of flushes) flush.left -= samples;
  }

  function dropOldest(): void {
    const kept = Math.max(held.writer, held.delivery);
    // in larger pieces, because each splice moves all samples behind it
    const gone = memory.splice(kept, Math.ceil(maxSamples / 100)).length;
    for (const flush of flushes) flush.lost ||= flush.left > kept;
    onDropped(gone);
  }
}
