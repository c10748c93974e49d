/**
 * Stored notices agree with the status pages at the newest good reading, which is recent, and no page is read more
 * often than agreed.
 */
import { sql } from "../../shared/database/pool.js";
import type { Cluster } from "../cluster.js";
import { isTouched } from "../ledger.js";
import { pageSize, type Posted, type StatusPage, statusAt } from "../status-page.js";

/** For this long, nobody else reads a page whose reader was killed. */
const claimMs = 5 * 60_000;
/** One reader may have been killed; else a page is due within two minutes. */
const readWithinMs = claimMs + 2.5 * 60_000;
/** A request for the first document follows the claim within this time. */
const askedWithinMs = 20_000;
/** Nine tenths of the shortest time between two readings. */
const pauseMs = 65_000;

interface Stored {
  id: string;
  status: string;
  resolved: boolean;
  left: boolean;
  /** The page no longer lists it, although it lists older ones, or all. */
  vanished: boolean;
}

interface Reading {
  venue: string;
  readMs: number | null;
  dueMs: number;
  stored: Stored[];
}

export async function checkNotices(cluster: Cluster): Promise<string[]> {
  const { ask, statusPages } = cluster;
  const readings = await ask((pool) =>
    pool.query<Reading>(sql`
      select
        v.venue,
        (
          select extract(epoch from max(r.until_at)) * 1000
          from feed_poll r
          where r.feed_id = v.feed_id and r.problem is null
        )::float8 as "readMs",
        (select extract(epoch from o.due_at) * 1000 from feed o where o.feed_id = v.feed_id)::float8 as "dueMs",
        (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', external_id, 'status', status, 'resolved', resolved_at is not null, 'left', left_at is not null, 'vanished', vanished
          )), '[]')
          from notice n
          where n.feed_id = v.feed_id
        ) as stored
      from venue v
      where v.feed_id is not null
    `),
  );
  return statusPages.flatMap((page) => {
    const reading = readings.find(({ venue }) => venue === page.venue);
    if (!reading || reading.readMs === null) return [`the status page of ${page.venue} was never read`];
    return [
      ...tooLongAgo(reading, cluster),
      ...otherThanPosted(page, reading.stored, reading.readMs),
      ...tooOften(page, cluster),
    ];
  });
}

/**
 * The instant at which the page is next due shows when it was claimed. A second reader in a row may have been killed
 * then.
 */
function tooLongAgo({ venue, readMs, dueMs }: Reading, { nowMs, ledger, cores }: Cluster): string[] {
  const claimedMs = dueMs - claimMs;
  const isInterrupted = ["database", ...cores.map(({ name }) => name)].some((of) =>
    isTouched(ledger.periods.get(of), claimedMs, claimedMs + askedWithinMs),
  );
  const ageMs = nowMs() - (readMs ?? 0);
  if (ageMs <= readWithinMs + (isInterrupted ? claimMs : 0)) return [];
  return [`the status page of ${venue} was last read ${Math.round(ageMs)} ms ago`];
}

function otherThanPosted({ venue, posted }: StatusPage, stored: readonly Stored[], readMs: number): string[] {
  const isRight = (one: Posted, row: Stored | undefined) =>
    [readMs, readMs + askedWithinMs].some((atMs) => {
      const status = statusAt(one, atMs);
      const newer = posted.filter((other) => other.postedMs > one.postedMs && statusAt(other, atMs) !== null);
      // what is beyond the first page has not vanished
      if (newer.length >= pageSize) return row === undefined || (row.left && (!row.vanished || status === null));
      if (status === null) return row === undefined || (row.left && row.vanished);
      return row?.status === status && row.resolved === (status === "resolved") && !row.left;
    });
  const wrong = posted.flatMap((one) => {
    const row = stored.find(({ id }) => id === one.id);
    return isRight(one, row) ? [] : [`notice ${one.id} is stored as ${JSON.stringify(row)}, posted: ${shown(one)}`];
  });
  const invented = stored.filter(({ id }) => !posted.some((one) => one.id === id));
  return [...wrong, ...invented.map(({ id }) => `${venue} never posted the notice ${id}`)];
}

function shown({ postedMs, monitoringMs, resolvedMs, removedMs }: Posted): string {
  const times = [postedMs, monitoringMs, resolvedMs, ...(removedMs === Infinity ? [] : [removedMs])];
  return times.map((ms) => new Date(ms).toISOString()).join(", ");
}

/** A reading may be repeated at once only if something happened to its reader or to the database. */
function tooOften({ venue }: StatusPage, { ledger, cores }: Cluster): string[] {
  const requests = ledger.feedRequests.filter((one) => one.venue === venue && one.path.endsWith("/incidents.json"));
  const troubled = ["database", `${venue}-status`, ...cores.map(({ name }) => name)];
  return requests.flatMap(({ atMs }, place) => {
    const before = requests[place - 1];
    if (!before || atMs - before.atMs >= pauseMs) return [];
    if (troubled.some((of) => isTouched(ledger.periods.get(of), before.atMs - askedWithinMs, atMs))) return [];
    return [`the status page of ${venue} was asked again after ${Math.round(atMs - before.atMs)} ms`];
  });
}
