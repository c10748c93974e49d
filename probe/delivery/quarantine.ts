/**
 * Samples of venues and components that the database does not know, because the probe's registry is newer than the one
 * that the database was migrated with. They wait in a separate spool and are retried every minute, so that they do not
 * delay other samples and are not lost.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import type { Batch } from "./backlog.js";
import type { Spool } from "./spool.js";

export interface Quarantine {
  /**
   * Resolves when the samples are on disk, or wait in memory because the disk does not take them. Only then does it
   * call `done`, which deletes them at their source: a crash in between costs a duplicate, but no sample.
   */
  put: (samples: readonly Sample[], done: () => void) => Promise<void>;
  /** How many samples are both in quarantine and at their source. */
  twice: () => number;
  /**
   * The oldest samples that are due for a retry. Samples that `put` returns to quarantine are queued behind the rest.
   */
  next: (size: number) => Promise<Batch | null>;
  /** Null if no sample was ever quarantined. */
  spool: () => Spool | null;
}

/** If the disk takes longer, the samples wait in memory, so that deliveries continue. */
const writtenWithinMs = 1_000;

/**
 * @param of the spool from which the samples come
 * @param tryEveryMs from the end of one round of retries to the next
 */
export function makeQuarantine(of: Pick<Spool, "below" | "status">, log: Log, tryEveryMs: number): Quarantine {
  let spool: Spool | null = null;
  let looked = false;
  /** Samples of the current round that are not retried yet. */
  let left = 0;
  let roundAtMs = 0;
  let loggedAtMs = -Infinity;
  let twice = 0;

  async function open(make: boolean): Promise<Spool | null> {
    spool ??= await of.below("unknown", make);
    looked = true;
    return spool;
  }

  function logUnknown(samples: readonly Sample[]): void {
    if (performance.now() - loggedAtMs < tryEveryMs) return;
    loggedAtMs = performance.now();
    const names = samples.map((one) => `${one.venue} ${one.component}`);
    log.error(
      "the database does not know some components that this probe measures; their samples wait in quarantine: run `venuewatch migrate` with this probe's registry",
      { components: [...new Set(names)].join(", ") },
    );
  }

  return {
    async put(samples, done) {
      logUnknown(samples);
      const to = (await open(true))!;
      samples.forEach(to.add);
      twice = samples.length;
      const late = sleep(writtenWithinMs, undefined, { ref: false });
      try {
        await Promise.race([to.flush(), late]);
        done();
      } finally {
        twice = 0;
      }
    },
    twice: () => twice,
    async next(size) {
      if (!looked && of.status().trouble === null) await open(false);
      const from = spool;
      if (!from || performance.now() < roundAtMs) return null;
      left ||= from.status().waiting;
      const batch = left > 0 ? await from.next(Math.min(size, left)) : null;
      if (!batch) {
        endRound();
        return null;
      }
      return {
        samples: batch.samples,
        done() {
          batch.done();
          left -= batch.samples.length;
          if (left <= 0) endRound();
        },
      };
    },
    spool: () => spool,
  };

  function endRound(): void {
    left = 0;
    roundAtMs = performance.now() + tryEveryMs;
  }
}
