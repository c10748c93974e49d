/**
 * Samples of what the database does not know: a venue or component of a newer registry than it was migrated with. They
 * hold up nobody and are not given up, but wait in a spool of their own, and are tried again every minute.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import type { Batch } from "./backlog.js";
import type { Spool } from "./spool.js";

export interface Quarantine {
  /**
   * Resolves when they are on the disk, or wait in memory for want of one. Where they came from they are given up then,
   * by `done`, and not before: a crash between the two costs a duplicate, and no sample.
   */
  put: (samples: readonly Sample[], done: () => void) => Promise<void>;
  /** How many are here and where they came from. */
  twice: () => number;
  /** The oldest of those that are due to be tried again. What comes back by `put` is behind all that were there. */
  next: (size: number) => Promise<Batch | null>;
  /** Null where nothing was ever put aside. */
  spool: () => Spool | null;
}

/** A disk that takes longer holds up nobody: they wait in memory. */
const writtenWithinMs = 1_000;

/**
 * @param of whose samples they are
 * @param tryEveryMs from the end of one round to the next
 */
export function makeQuarantine(of: Pick<Spool, "below" | "status">, log: Log, tryEveryMs: number): Quarantine {
  let spool: Spool | null = null;
  let looked = false;
  /** Of the round that is under way. */
  let left = 0;
  let roundAtMs = 0;
  let toldAtMs = -Infinity;
  let twice = 0;

  async function open(make: boolean): Promise<Spool | null> {
    spool ??= await of.below("unknown", make);
    looked = true;
    return spool;
  }

  function tell(samples: readonly Sample[]): void {
    if (performance.now() - toldAtMs < tryEveryMs) return;
    toldAtMs = performance.now();
    const names = samples.map((one) => `${one.venue} ${one.component}`);
    log.error(
      "the database does not know what is measured; the samples wait until it does: run `venuewatch migrate` with this probe's registry",
      { components: [...new Set(names)].join(", ") },
    );
  }

  return {
    async put(samples, done) {
      tell(samples);
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
