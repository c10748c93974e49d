import type { Pool } from "../../shared/database/pool.js";
import { datasets, type Period, type DatasetName } from "./datasets.js";

export interface RecordFilter {
  what: DatasetName;
  period: Period;
  /** Null: all. */
  venue: string | null;
  /** For incidents: whether to include retracted ones. */
  retracted: boolean;
}

interface Component {
  venue: string;
  component: string;
}

/** How much time one statement searches, adapted to the number of rows that the previous one found. */
interface Pace {
  windowMs: number;
  widestMs: number;
}

type Rows = AsyncGenerator<unknown[][], void, void>;

const shortestWindowMs = 1_000;

export async function columnsOf(pool: Pool, wanted: RecordFilter): Promise<string[]> {
  const { from } = wanted.period;
  const rows = await openWindow(pool, wanted, null, { from, to: from }, null);
  rows.close();
  return [...rows.columns];
}

/**
 * Yields the rows of a period page by page, in the order of the dataset's files. Memory does not grow with the number
 * of rows.
 *
 * Each page is read completely and its connection released before the page is yielded, so a slow disk delays nobody
 * else. On the embedded database, an open cursor would make everybody else wait.
 *
 * Samples and minutes are read one component after another. The index and the segments of compressed chunks are by
 * component, so this reads each row once; a whole day in this order would first be sorted on disk.
 *
 * @param onShare called with the share of the period that has been read
 */
export async function* recordsOf(pool: Pool, wanted: RecordFilter, onShare: (share: number) => void): Rows {
  const { byComponent, windowMs, widestMs } = datasets[wanted.what];
  const pace = { windowMs, widestMs };
  if (!byComponent) return yield* inWindows(pool, wanted, null, pace, onShare);
  const all = await pool.file<Component>("export_components", [wanted.venue]);
  for (const [i, component] of all.entries()) {
    onShare(i / all.length);
    // the pace of one component is right for the next
    yield* inWindows(pool, wanted, component, pace);
  }
}

/**
 * @param of only the rows of this component
 * @param pace is changed
 */
async function* inWindows(
  pool: Pool,
  wanted: RecordFilter,
  of: Component | null,
  pace: Pace,
  onWindow: (share: number) => void = () => {},
): Rows {
  const { pageRows } = datasets[wanted.what];
  const { from, to } = wanted.period;
  let at = from;
  let after: Key | null = null;
  while (at < to) {
    onWindow((+at - +from) / (+to - +from));
    const end = new Date(Math.min(+at + pace.windowMs, +to));
    const page = await readPage(pool, wanted, of, { from: at, to: end }, after);
    if (page.rows.length > 0) yield page.rows;
    after = page.last ?? after;
    if (page.isAll) {
      at = end;
      if (page.rows.length < pageRows / 4) pace.windowMs = Math.min(2 * pace.windowMs, pace.widestMs);
    } else {
      at = timeOf(after!);
      pace.windowMs = Math.max(pace.windowMs / 2, shortestWindowMs);
    }
  }
}

/** The values by which the rows of a statement are ordered. */
type Key = readonly unknown[];

/** The first rows of a window, at most one page. */
async function readPage(pool: Pool, wanted: RecordFilter, of: Component | null, window: Period, after: Key | null) {
  const { order, pageRows } = datasets[wanted.what];
  const rows = await openWindow(pool, wanted, of, window, after);
  const page: unknown[][] = [];
  let isAll = false;
  try {
    while (!isAll && page.length < pageRows) {
      const batch = await rows.next();
      if (batch) page.push(...batch);
      else isAll = true;
    }
  } finally {
    rows.close();
  }
  const places = order.map((column) => rows.columns.indexOf(column));
  const row = page.at(-1);
  const last: Key | null = row ? places.map((place) => row[place]) : null;
  return { rows: page, isAll, last };
}

/** The first value of a key as an instant; it may be a day. */
function timeOf([time]: Key): Date {
  return new Date(time as Date | string);
}

function openWindow(pool: Pool, wanted: RecordFilter, of: Component | null, { from, to }: Period, after: Key | null) {
  const { what, venue, retracted } = wanted;
  const { file, order, byComponent } = datasets[what];
  const scope = byComponent ? [of?.venue ?? null, of?.component ?? null] : [venue];
  const others = what === "incidents" ? [retracted] : [];
  return pool.rows(file, [from, to, ...scope, ...(after ?? order.map(() => null)), ...others], 1_000);
}
