import type { Db } from "./db.js";
import type { Sample } from "./sample.js";

/** What became of a batch. A duplicate was sent before; a refused one is too old, too new, or of an unknown component. */
export interface Recorded {
  stored: number;
  duplicates: number;
  refused: number;
}

/**
 * Inserts a batch in one statement, idempotently: the same batch may be sent again after a lost answer.
 *
 * @param region id of the region that measured them
 */
export async function recordSamples(
  db: Db,
  region: string,
  samples: readonly Sample[],
): Promise<Recorded> {
  const column = <Key extends keyof Sample>(key: Key) =>
    samples.map((sample) => sample[key]);
  const [row] = await db.file<{
    given: number;
    accepted: number;
    stored: number;
  }>("record_samples", [
    region,
    column("venue"),
    column("component"),
    column("slotAt"),
    column("fault"),
    column("latencyUs"),
    column("dnsUs"),
    column("connectUs"),
    column("tlsUs"),
    column("firstByteUs"),
    column("httpStatus"),
    column("head"),
    column("messages"),
    column("quietMs"),
    column("eventAgeMs"),
    column("lateMs"),
    column("fresh"),
    column("certificateExpiresAt"),
    column("sequenceGaps"),
    column("clockErrorMs"),
    column("clockErrorWithinMs"),
  ]);
  const { given, accepted, stored } = row!;
  return {
    stored,
    duplicates: accepted - stored,
    refused: given - accepted,
  };
}
