/**
 * Records one batch at a time in the database. Each of its samples is counted and remembered for a failover, or
 * quarantined, or refused.
 */
import type { Log } from "../../shared/log/log.js";
import type { Sample } from "../../shared/measurement/sample.js";
import type { Acknowledged } from "./acknowledged-samples.js";
import type { Batch } from "./backlog.js";
import type { Quarantine } from "./quarantine.js";

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
