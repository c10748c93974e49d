import { type Db, sql } from "../../shared/database/pool.js";

/** What can be written, and how it is read: a window of time at once, in an order by a key. */
export interface Dataset {
  /** Of `sql/queries`. */
  file: string;
  /** Columns by which rows are in order, and by which each is told from all others; the first is its time. */
  key: readonly string[];
  /** So much time is asked for in the first statement. */
  windowMs: number;
  /** A statement asks for no more time: what it looks through where little is found, of a venue for example. */
  widestMs: number;
  /**
   * So many rows are read by a statement, and are in memory at once: what a server sorts without its disk, and the
   * embedded database in a fraction of a second, in which it answers nobody else.
   */
  pageRows: number;
  /** For how long it is kept, in words; null: for ever. */
  keptFor: string | null;
  /** Whether there may be none for long, and nothing amiss. */
  maybeNone: boolean;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const series = ["venue", "component", "region"];

export const datasets = {
  samples: {
    file: "export_samples",
    key: ["ts", ...series],
    windowMs: minuteMs,
    widestMs: hourMs,
    pageRows: 10_000,
    keptFor: "eight days",
    maybeNone: false,
  },
  minutes: {
    file: "export_minutes",
    key: ["minute", ...series],
    windowMs: 10 * minuteMs,
    widestMs: 6 * hourMs,
    pageRows: 10_000,
    keptFor: "100 days",
    maybeNone: false,
  },
  days: {
    file: "export_days",
    key: ["day", "venue"],
    windowMs: 365 * dayMs,
    widestMs: 365 * dayMs,
    pageRows: 10_000,
    keptFor: null,
    maybeNone: false,
  },
  incidents: {
    file: "export_incidents",
    key: ["started_at", "incident_id"],
    windowMs: 7 * dayMs,
    widestMs: 365 * dayMs,
    // with their evidence they are large
    pageRows: 1_000,
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
 * The time in which there is anything; null where there is nothing at all. Incidents are known until now, even if there
 * were none.
 */
export async function periodKept(db: Db, what: DatasetName): Promise<Period | null> {
  const [kept] = await periods[what](db);
  return kept!.from && { from: kept!.from, to: kept!.to };
}

type Kept = { from: null; to: null } | Period;

/**
 * Of what is kept by chunks; the oldest of all is found by an index, where its minimum would be looked for in all of
 * them.
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
