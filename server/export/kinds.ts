import { type Db, sql } from "../db.js";

/** What can be written, and how it is read: a window of time at once, in an order by a key. */
export interface Kind {
  /** Of `sql/queries`. */
  file: string;
  /** Columns by which rows are in order, and by which each is told from all others; the first is its time. */
  key: readonly string[];
  /**
   * So much time is asked for in one statement: what a server sorts without its disk, and the embedded database in a fraction of a
   * second, in which it answers nobody else.
   */
  windowMs: number;
  /** For how long it is kept, in words; null: for ever. */
  keptFor: string | null;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
const series = ["venue", "component", "region"];

export const kinds = {
  samples: {
    file: "export_samples",
    key: ["ts", ...series],
    windowMs: 5 * minuteMs,
    keptFor: "eight days",
  },
  minutes: {
    file: "export_minutes",
    key: ["minute", ...series],
    windowMs: 60 * minuteMs,
    keptFor: "100 days",
  },
  days: {
    file: "export_days",
    key: ["day", "venue"],
    windowMs: 365 * dayMs,
    keptFor: null,
  },
  incidents: {
    file: "export_incidents",
    key: ["started_at", "incident_id"],
    windowMs: 7 * dayMs,
    keptFor: null,
  },
} as const satisfies Record<string, Kind>;

export type What = keyof typeof kinds;

export interface Period {
  from: Date;
  to: Date;
}

/** The time in which there is anything; null where there is nothing at all. */
export async function periodKept(db: Db, what: What): Promise<Period | null> {
  const [kept] = await periods[what](db);
  return kept!.from && { from: kept!.from, to: kept!.to };
}

type Kept = { from: null; to: null } | Period;

/** Of what is kept by chunks; the oldest of all is found by an index, where its minimum would be looked for in all of them. */
const periods: Record<What, (db: Db) => Promise<Kept[]>> = {
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
      select min(started_at) as "from", max(started_at) + interval '1 millisecond' as "to" from analytics.incidents
    `),
};
