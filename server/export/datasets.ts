import { type Db, sql } from "../../shared/database/pool.js";

/** A dataset that can be exported. It is read one window of time after another. */
export interface Dataset {
  /** Name of a file in `sql/queries`. */
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
  const [kept] = await periods[what](db);
  return kept!.from && { from: kept!.from, to: kept!.to };
}

type Kept = { from: null; to: null } | Period;

/**
 * Samples and minutes are stored in chunks. `order by … limit 1` finds the oldest one by an index; `min` would search
 * all chunks.
 */
const periods: Record<DatasetName, (db: Db) => Promise<Kept[]>> = {
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
