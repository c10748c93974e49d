import type { Pool } from "../../../shared/database/pool.js";
import { datasets } from "../datasets.js";
import { type Key, type Pace, type RecordFilter, recordsOf } from "../records.js";

type Rows = AsyncGenerator<unknown[][], void, void>;
type OnShare = (share: number) => void;

/**
 * Yields the rows of a period page by page, in the order of the dataset's Parquet files. Memory does not grow with the
 * number of rows, and no connection is held while a page is used; see `recordsOf`.
 *
 * @param after yield only rows after this one, which is a key of a Parquet file
 * @param onShare called with the share of the period that has been read
 */
export function sortedRecords(pool: Pool, wanted: RecordFilter, after: Key | null, onShare: OnShare): Rows {
  return datasets[wanted.what].parquet.byComponent
    ? byComponent(pool, wanted, after, onShare)
    : recordsOf(pool, wanted, after, onShare);
}

interface ComponentOfVenue {
  venue: string;
  component: string;
}

/**
 * One component after another. They are an index and the segments of compressed chunks, so this reads each row once; a
 * whole day in this order would be sorted first, on disk.
 */
async function* byComponent(pool: Pool, wanted: RecordFilter, after: Key | null, onShare: OnShare): Rows {
  const { key, parquet } = datasets[wanted.what];
  const valueOf = (column: string) => after![(parquet.key as readonly string[]).indexOf(column)];
  const begun = after === null ? [null, null] : [valueOf("venue"), valueOf("component")];
  const all = await pool.file<ComponentOfVenue>("export_components", [wanted.venue, ...begun]);
  // a component has a fraction of the rows of all; the pace of one is right for the next
  const pace: Pace = { windowMs: firstWindowMs, widestMs: widestWindowMs };
  for (const [i, { venue, component }] of all.entries()) {
    onShare(i / all.length);
    const isBegun = venue === begun[0] && component === begun[1];
    const afterThis = isBegun ? key.map(valueOf) : null;
    yield* recordsOf(pool, { ...wanted, venue, component }, afterThis, undefined, pace);
  }
}

/** Some 9,000 samples of three regions, at the usual cadence of five seconds. */
const firstWindowMs = 4 * 3_600_000;
const widestWindowMs = 24 * 3_600_000;
