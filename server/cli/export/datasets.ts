import { type Db, type Pool, sql } from "../../../shared/database/pool.js";
import { columnType, type ParquetColumn } from "./parquet-file.js";

/** A dataset that can be exported. It is read one window of time after another. */
export interface Dataset {
  /** Name of a statement. */
  file: string;
  /** What a folder is named after, and contains: a UTC day, or a month where days have few rows. */
  folder: "date" | "month";
  /** The columns that order the rows of a file and identify each of them. */
  key: readonly string[];
  /** Whether one component is read after another, because that is the order of the rows. */
  byComponent: boolean;
  /** The columns that order the rows that one statement reads. The first one is the time. */
  order: readonly string[];
  /** Length of the first window. */
  windowMs: number;
  /** Longest window. It limits how much time one statement searches if it finds little, for example of one venue. */
  widestMs: number;
  /**
   * How many rows one statement yields at most; all of them are in memory at once. A server sorts this many without
   * its disk. The embedded database sorts them in a fraction of a second, in which it answers nobody else.
   */
  pageRows: number;
  /** Rows of a row group. All of them are in memory until it is written; readers skip those that they do not need. */
  groupRows: number;
  /** How long the rows are kept, in words; null: forever. */
  keptFor: string | null;
  /** Whether long periods without rows are normal. */
  maybeNone: boolean;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export const datasets = {
  samples: {
    file: "export_samples",
    folder: "date",
    key: ["venue", "component", "ts", "region"],
    byComponent: true,
    order: ["ts", "region"],
    // some 9,000 samples of three regions, at the usual cadence of five seconds
    windowMs: 4 * hourMs,
    widestMs: dayMs,
    pageRows: 10_000,
    groupRows: 100_000,
    keptFor: "eight days",
    maybeNone: false,
  },
  minutes: {
    file: "export_minutes",
    folder: "date",
    key: ["venue", "component", "minute", "region"],
    byComponent: true,
    order: ["minute", "region"],
    windowMs: 4 * hourMs,
    widestMs: dayMs,
    pageRows: 10_000,
    groupRows: 100_000,
    keptFor: "100 days",
    maybeNone: false,
  },
  days: {
    file: "export_days",
    folder: "month",
    key: ["day", "venue"],
    byComponent: false,
    order: ["day", "venue"],
    windowMs: 365 * dayMs,
    widestMs: 365 * dayMs,
    pageRows: 10_000,
    groupRows: 100_000,
    keptFor: null,
    maybeNone: false,
  },
  incidents: {
    file: "export_incidents",
    folder: "month",
    key: ["started_at", "incident_id"],
    byComponent: false,
    order: ["started_at", "incident_id"],
    windowMs: 7 * dayMs,
    widestMs: 365 * dayMs,
    // each is large, because it contains its evidence
    pageRows: 1_000,
    groupRows: 2_000,
    keptFor: null,
    maybeNone: true,
  },
} as const satisfies Record<string, Dataset>;

export type DatasetName = keyof typeof datasets;

export interface Period {
  from: Date;
  to: Date;
}

/**
 * The period for which the database has data; null if it has none. For incidents it ends now, even if there were none
 * lately.
 */
export async function periodKept(db: Db, what: DatasetName): Promise<Period | null> {
  const [kept] = await periodQueries[what](db);
  return kept!.from && { from: kept!.from, to: kept!.to };
}

type Kept = { from: null; to: null } | Period;

/**
 * Samples and minutes are stored in chunks. `order by … limit 1` finds the oldest one by an index; `min` would search
 * all chunks.
 */
const periodQueries: Record<DatasetName, (db: Db) => Promise<Kept[]>> = {
  samples: (db) =>
    db.query<Kept>(sql`
      select
        (select ts from analytics.samples order by ts limit 1) as "from",
        (select ts from analytics.samples order by ts desc limit 1) + interval '1 millisecond' as "to"
    `),
  minutes: (db) =>
    db.query<Kept>(sql`
      select
        (select minute from analytics.minutes order by minute limit 1) as "from",
        (select minute from analytics.minutes order by minute desc limit 1) + interval '1 minute' as "to"
    `),
  days: (db) =>
    db.query<Kept>(sql`
      select min(day)::timestamptz as "from", max(day)::timestamptz + interval '1 day' as "to" from analytics.days
    `),
  incidents: (db) =>
    db.query<Kept>(sql`
      select
        coalesce(min(started_at), now()) as "from",
        greatest(max(started_at) + interval '1 millisecond', now()) as "to"
      from analytics.incidents
    `),
};

export interface ParquetTable {
  columns: readonly ParquetColumn[];
  /** What a row is. */
  description: string | null;
}

interface DescribedColumn {
  name: string;
  type: string;
  words: string[] | null;
  description: string | null;
}

/** The columns that an export of these records has, as the view describes them to analysts. */
export async function tableOf(pool: Pool, wanted: RecordFilter): Promise<ParquetTable> {
  const view = `analytics.${wanted.what}`;
  const described = new Map((await pool.file<DescribedColumn>("export_columns", [view])).map((one) => [one.name, one]));
  const key: readonly string[] = datasets[wanted.what].key;
  const columns = (await columnsOf(pool, wanted)).map((name) => {
    const found = described.get(name);
    if (!found) throw new Error(`${view} has no column ${name}, which its export has`);
    const { type, words, description } = found;
    return { ...columnType(type), name, words, description, isKey: key.includes(name) };
  });
  const [view_] = await pool.query<{ description: string | null }>(
    sql`select obj_description(${view}::regclass, 'pg_class') as description`,
  );
  return { columns, description: view_!.description };
}

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

async function columnsOf(pool: Pool, wanted: RecordFilter): Promise<string[]> {
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
