/** A bounded queue in memory of the samples that are not on the disk. */
import type { Sample } from "../../shared/measurement/sample.js";
import type { Batch } from "./backlog.js";

export type SpoolMemory = ReturnType<typeof makeSpoolMemory>;

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
