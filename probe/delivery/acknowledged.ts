/**
 * What the database has acknowledged lately. With asynchronous replication a failover loses the last of it: the new
 * primary is on another timeline, and is sent all of this once more. What it has already, its unique key keeps it from
 * storing twice.
 *
 * It is kept in memory: a probe that is restarted within these seconds before a failover does not resend what it sent
 * before.
 */
import type { Sample } from "../../shared/measurement/sample.js";
import type { Batch } from "./backlog.js";

export interface AcknowledgedOptions {
  /** Counted back from the newest acknowledgement, so that nothing is forgotten while a failover takes its time. */
  keepMs?: number;
  /**
   * Samples. Beyond it the oldest are forgotten; at 500 a second, the most of one process, these are a hundred seconds.
   */
  keepAtMost?: number;
}

export interface Acknowledged {
  /**
   * @param timeline of the database that acknowledged them
   * @returns how many are to be sent again by this: none, unless the database was failed over
   */
  add: (samples: readonly Sample[], timeline: string) => number;
  /** The oldest that are to be sent again, at most so many; null where there are none. */
  next: (size: number) => Batch | null;
}

export function makeAcknowledged({ keepMs = 90_000, keepAtMost = 50_000 }: AcknowledgedOptions = {}): Acknowledged {
  /** Oldest first. */
  let kept: { samples: readonly Sample[]; atMs: number }[] = [];
  let keptSamples = 0;
  let again: Sample[] = [];
  let known: string | null = null;

  function forgetOld(nowMs: number): void {
    while (kept.length > 1 && (nowMs - kept[0]!.atMs > keepMs || keptSamples > keepAtMost))
      keptSamples -= kept.shift()!.samples.length;
  }

  return {
    add(samples, timeline) {
      const wasFailedOver = known !== null && known !== timeline;
      const lost = wasFailedOver ? kept.flatMap((one) => one.samples) : [];
      if (wasFailedOver) {
        // of a failover before this one, some may not have been sent again yet
        again = again.concat(lost);
        kept = [];
        keptSamples = 0;
      }
      known = timeline;
      const nowMs = performance.now();
      kept.push({ samples, atMs: nowMs });
      keptSamples += samples.length;
      forgetOld(nowMs);
      return lost.length;
    },
    next(size) {
      if (again.length === 0) return null;
      const samples = again.slice(0, size);
      return {
        samples,
        done() {
          again = again.slice(samples.length);
        },
      };
    },
  };
}
