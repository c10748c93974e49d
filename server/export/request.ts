/** Compares what is requested with what the database has. */
import { type Db, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";
import { datasets, type Period, periodKept } from "./datasets.js";
import type { RecordFilter } from "./records.js";

/** @throws UserError if the database has no such venue */
export async function refuseUnknownVenue(db: Db, venue: string): Promise<void> {
  const rows = await db.query<{ venue: string }>(sql`select venue from analytics.venues order by venue`);
  const ids = rows.map(({ venue }) => venue);
  if (!ids.includes(venue))
    throw new UserError(`--venue: there is no venue ${JSON.stringify(venue)}; the venues are ${ids.join(", ")}`);
}

/**
 * The part of the requested period that the database can have data of. The rest need not be searched. It is empty where
 * there are no data at all, and ends before it begins where there were none yet.
 *
 * @throws UserError if the database cannot have data of the period
 */
export async function periodThere(db: Db, { what, period }: RecordFilter, log: Log): Promise<Period> {
  const kept = await periodKept(db, what);
  const { keptFor, maybeNone } = datasets[what];
  const since = keptFor === null ? "" : `, which are kept for ${keptFor}`;
  if (kept === null) {
    log.warn(`there are no ${what}${since}`);
    return { from: period.from, to: period.from };
  }
  if (period.from >= kept.to || (period.to <= kept.from && !maybeNone))
    throw new UserError(
      `there are no ${what} in this period: the database has them from ${kept.from.toISOString()} to ${kept.to.toISOString()}${since}`,
    );
  if (period.from < kept.from && keptFor !== null)
    log.warn(`there are no ${what} before ${kept.from.toISOString()}${since}`);
  return {
    from: new Date(Math.max(+period.from, +kept.from)),
    to: new Date(Math.min(+period.to, +kept.to)),
  };
}
