/** Compares what is requested with what the database has. */
import { type Db, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";
import { datasets, type Period, periodKept } from "./datasets.js";
import { startOfFolder } from "./folders.js";
import type { RecordFilter } from "./records.js";

/** @throws UserError if the database has no such venue */
export async function refuseUnknownVenue(db: Db, venue: string): Promise<void> {
  const rows = await db.query<{ venue: string }>(sql`select venue from analytics.venues order by venue`);
  const ids = rows.map(({ venue }) => venue);
  if (!ids.includes(venue))
    throw new UserError(`--venue: there is no venue ${JSON.stringify(venue)}; the venues are ${ids.join(", ")}`);
}

/**
 * The part of the requested period that a dataset can cover. It is fixed before the first row is read, since the
 * database gets newer ones meanwhile.
 *
 * @throws UserError if the database has no data of the period
 */
export async function periodToWrite(db: Db, { what, period }: RecordFilter, log: Log): Promise<Period> {
  const kept = await periodKept(db, what);
  const { keptFor, maybeNone } = datasets[what];
  const since = keptFor === null ? "" : `, which are kept for ${keptFor}`;
  if (kept === null)
    throw new UserError(`there are no ${what}, so there is no dataset to write; export them when there are some`);
  if (period.from >= kept.to || (period.to <= kept.from && !maybeNone))
    throw new UserError(
      `there are no ${what} in this period: the database has them from ${kept.from.toISOString()} to ${kept.to.toISOString()}${since}`,
    );
  if (period.from < kept.from && keptFor !== null)
    log.warn(`there are no ${what} before ${kept.from.toISOString()}${since}`);
  const now = new Date();
  const today = now.toISOString().slice(0, 10);
  if (period.to > new Date(today))
    log.warn(`today is not over, and a dataset is never changed: --to ${today} would leave it to a later export`);
  // a period that is over is covered to its end, whenever its newest record was
  const to = period.to <= now || period.to <= kept.to ? period.to : kept.to;
  return { from: begin(kept.from), to };

  function begin(first: Date): Date {
    if (period.from >= first) return period.from;
    if (!maybeNone) return first;
    // none had happened yet, which is an answer, too
    if (period.to <= first) return period.from;
    const start = startOfFolder(what, first);
    // the time before the first is quiet, as far as it belongs to the same folder
    return period.from > start ? period.from : start;
  }
}
