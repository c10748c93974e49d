/**
 * Records one batch at a time in the database. Each of its samples is counted and remembered for a failover, or
 * quarantined, or refused.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import type { Batch } from "./spool-segment.js";
import type { Spool } from "./spool.js";

/** Stores samples. It is idempotent: a sample is stored once. Rejects if the outcome of the whole batch is unknown. */
export type RecordSamples = (samples: readonly Sample[]) => Promise<{
  stored: number;
  duplicates: number;
  refused: number;
  /** Not stored, because the database does not know their components yet; default: none. */
  unknown?: readonly Sample[];
  /**
   * The database's timeline, which changes with a failover. If it is absent, nothing is sent again after a failover.
   */
  timeline?: string;
}>;

/** Numbers of samples. */
export interface RecordedCounts {
  /** Acknowledged by the database: newly stored samples and duplicates. */
  shipped: number;
  duplicates: number;
  /** Acknowledged before a failover, lost by the database in it, and stored after it. */
  restored: number;
  /** Refused by the database for good: too old, ahead of its clock, or with a value that it cannot hold. */
  refused: number;
}

/**
 * A statement costs as much as a few hundred rows. Batches of 500 reach 0.65 of a plain insert's rate, batches of 1000
 * reach 0.77.
 */
export const batchSize = 1000;

/** @param quarantine gets the samples whose components the database does not know */
export function makeRecorder(
  recordSamples: RecordSamples,
  acknowledged: Acknowledged,
  quarantine: Quarantine,
  log: Log,
) {
  const counts: RecordedCounts = { shipped: 0, duplicates: 0, restored: 0, refused: 0 };
  /** Halved to find samples that make their batch fail, and doubled again after each success. */
  let size = batchSize;

  return {
    counts: (): Readonly<RecordedCounts> => counts,
    /** Maximum size of the next batch. */
    size: () => size,
    /**
     * Rejects if the database did not answer, or failed for another reason than the values of the samples.
     *
     * @param isAgain the batch was acknowledged and counted before a failover
     * @returns false if nothing waits
     */
    async record(batch: Batch | null, isAgain = false): Promise<boolean> {
      if (!batch) return false;
      try {
        await recordBatch(batch, isAgain);
      } catch (error) {
        if (!isDataError(error)) throw error;
        narrowDown(batch, error);
      }
      return true;
    },
  };

  async function recordBatch({ samples, done }: Batch, isAgain: boolean): Promise<void> {
    const { stored, duplicates, refused, unknown = [], timeline } = await recordSamples(samples);
    size = Math.min(size * 2, batchSize);
    if (isAgain) {
      counts.restored += stored;
      if (stored > 0) log.warn("stored samples again that a failover had lost", { stored });
    } else {
      counts.shipped += stored + duplicates;
      counts.duplicates += duplicates;
      counts.refused += refused;
    }
    const again = timeline === undefined ? 0 : acknowledged.add(samples, timeline);
    if (again > 0)
      log.warn("the database failed over: sending again the samples that it acknowledged recently", {
        timeline,
        samples: again,
      });
    if (refused > 0) log.warn("samples refused by the database", { refused });
    if (unknown.length > 0) await quarantine.put(unknown, done);
    else done();
  }

  /** Retrying such a batch unchanged would block all others forever. */
  function narrowDown({ samples, done }: Batch, error: unknown): void {
    if (samples.length > 1) {
      size = Math.ceil(samples.length / 2);
      return;
    }
    done();
    counts.refused += 1;
    log.error("the database cannot hold a sample; this is a bug of the probe", { sample: samples[0], error });
  }
}

/** SQLSTATE class 22 (such as a value out of its type's range) or 23 (a violated constraint). */
function isDataError(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === "string" && /^2[23]...$/.test(code);
}

// Samples of venues and components that the database does not know, because the probe's registry is newer than the one
// that the database was migrated with. They wait in a separate spool and are retried every minute, so that they do not
// delay other samples and are not lost.

interface Quarantine {
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

// Samples that the database has acknowledged recently. With asynchronous replication, a failover loses the newest of
// them. The new primary is on another timeline, so the probe sends it all of these samples again. The unique key keeps
// a sample from being stored twice.
//
// They are kept only in memory: a probe that restarts within these seconds before a failover does not resend the
// samples that it delivered before the restart.

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
