import type { Pool } from "../../shared/database/pool.js";
import { datasets, type Period, type DatasetName } from "./datasets.js";

/** The values of a row's key, from the database or from a file. */
export type Key = readonly unknown[];

export interface RecordFilter {
  what: DatasetName;
  period: Period;
  /** Null: all. */
  venue: string | null;
  /** Of samples and minutes: only this component of the venue. Absent: all. */
  component?: string;
  /** For incidents: whether to include retracted ones. */
  retracted: boolean;
}

/** How much time one statement searches, which follows from how many rows the one before found. */
export interface Pace {
  windowMs: number;
  widestMs: number;
}

const shortestWindowMs = 1_000;

export async function columnsOf(pool: Pool, wanted: RecordFilter): Promise<string[]> {
  const { from } = wanted.period;
  const rows = await openWindow(pool, wanted, { from, to: from }, null);
  rows.close();
  return [...rows.columns];
}

/**
 * Yields the rows of a period page by page, ordered by their key. Memory does not grow with the number of rows.
 *
 * Each page is read completely and its connection released before the page is yielded, so a slow reader delays nobody
 * else. On the embedded database, an open cursor would make everybody else wait.
 *
 * @param after yield only rows after this key
 * @param onWindow called before each window, with the share of the period that is before it
 * @param pace is changed
 */
export async function* recordsOf(
  pool: Pool,
  wanted: RecordFilter,
  after: Key | null,
  onWindow: (share: number) => void = () => {},
  pace: Pace = paceOf(wanted.what),
): AsyncGenerator<unknown[][], void, void> {
  const { pageRows } = datasets[wanted.what];
  const { from, to } = wanted.period;
  let at = after === null ? from : latest(from, timeOf(after));
  while (at < to) {
    onWindow((+at - +from) / (+to - +from));
    const end = new Date(Math.min(+at + pace.windowMs, +to));
    const page = await readPage(pool, wanted, { from: at, to: end }, after);
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

function paceOf(what: DatasetName): Pace {
  const { windowMs, widestMs } = datasets[what];
  return { windowMs, widestMs };
}

/** The first rows of a window, at most one page. */
async function readPage(pool: Pool, wanted: RecordFilter, window: Period, after: Key | null) {
  const { key, pageRows } = datasets[wanted.what];
  const rows = await openWindow(pool, wanted, window, after);
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
  const places = key.map((column) => rows.columns.indexOf(column));
  const row = page.at(-1);
  const last: Key | null = row ? places.map((place) => row[place]) : null;
  return { rows: page, isAll, last };
}

/** The first value of a key as an instant; it may be a day. */
export function timeOf([time]: Key): Date {
  return new Date(time as Date | string);
}

function openWindow(pool: Pool, wanted: RecordFilter, { from, to }: Period, after: Key | null) {
  const { what, venue, component = null, retracted } = wanted;
  const { file, key } = datasets[what];
  const others = what === "incidents" ? [retracted] : what === "days" ? [] : [component];
  return pool.rows(file, [...[from, to, venue], ...(after ?? key.map(() => null)), ...others], 1_000);
}

function latest(a: Date, b: Date): Date {
  return a > b ? a : b;
}
