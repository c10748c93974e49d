/**
 * Samples that the database has acknowledged recently. With asynchronous replication, a failover loses the newest of
 * them. The new primary is on another timeline, so the probe sends it all of these samples again. The unique key keeps
 * a sample from being stored twice.
 *
 * They are kept only in memory: a probe that restarts within these seconds before a failover does not resend the
 * samples that it delivered before the restart.
 */
import type { Sample } from "../../shared/measurement/sample.js";
import type { Batch } from "./backlog.js";

export interface AcknowledgedOptions {
  /** Counted back from the newest acknowledgement, so that nothing is forgotten during a long failover. */
  keepMs?: number;
  /**
   * Maximum number of samples; beyond it the oldest are forgotten. The default is a hundred seconds at 500 samples a
   * second, the maximum of one process.
   */
  keepAtMost?: number;
}

export interface Acknowledged {
  /**
   * @param timeline of the database that acknowledged them
   * @returns how many samples must be sent again; 0 unless the database failed over
   */
  add: (samples: readonly Sample[], timeline: string) => number;
  /** At most `size` of the oldest samples to send again; null if there are none. */
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
        // samples of an earlier failover may still wait to be sent again
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
