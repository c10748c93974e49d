/** Stores venues' notices as a reading of their feeds does, for tests of the stored notices and of the comparison. */
import { type Db, sql } from "../../shared/database/pool.js";
import type { Notice, NoticeList, FeedPoll } from "../../server/core/notices/feed.js";
import { type StoredPoll, storePoll } from "../../server/core/notices/polling.js";

/**
 * Makes a notice of a status page: an incident that began and was posted at `startedAt`, unless `other` says otherwise.
 */
export function notice(id: string | null, startedAt: Date | null, other: Partial<Notice> = {}): Notice {
  return {
    ...{ id, kind: "incident", title: "Elevated errors", url: null, status: "investigating", impact: "major" },
    ...{ startedAt, postedAt: startedAt, resolvedAt: null, plannedEndAt: null, over: false, subjects: [] },
    raw: JSON.stringify({ id, name: "Elevated errors" }),
    ...other,
  };
}

/** Makes a complete list, like that of a page with fewer than fifty incidents. */
export function whole(...notices: Notice[]): NoticeList {
  return { scope: "incidents", notices, listedFrom: new Date(0) };
}

export async function sourceOf(db: Db, venue: string): Promise<number> {
  const [row] = await db.query<{ feed_id: number | null }>(sql`select feed_id from venue where venue = ${venue}`);
  if (row?.feed_id == null) throw new Error(`${venue} has no feed`);
  return row.feed_id;
}

/** Stores a reading of the venue's feed with these lists; it is complete unless it has a problem. */
export async function said(
  db: Db,
  venue: string,
  at: Date,
  lists: NoticeList[],
  other: Partial<FeedPoll> = {},
): Promise<StoredPoll> {
  const reading = {
    problem: null,
    unanswered: false,
    lists,
    feedAt: null,
    unchanged: false,
    retryAfterMs: 0,
    ...other,
  };
  return storePoll(db, await sourceOf(db, venue), at, reading, new Date(+at + 90_000));
}

/** Records that the venue's feed was read well between the two instants and had no news; earlier notices stay in it. */
export async function readThrough(db: Db, venue: string, from: Date, to: Date): Promise<void> {
  await db.query(sql`
    insert into feed_poll (feed_id, from_at, until_at, covers_from)
    values (${await sourceOf(db, venue)}, ${from}, ${to}, ${from})
  `);
}

/** Removes all readings of feeds. */
export async function forgetSaid(db: Db): Promise<void> {
  await db.script("truncate notice_change, notice, feed_poll restart identity");
  await db.script("update feed set due_at = '-infinity', feed_at = null, added_at = now(), unended_readings = 0");
}

export interface KeptNotice {
  external_id: string;
  kind: string;
  status: string;
  impact: string | null;
  title: string;
  started_at: Date;
  posted_at: Date | null;
  resolved_at: Date | null;
  over: boolean;
  doubtful: boolean;
  first_seen_at: Date;
  last_seen_at: Date;
  left_at: Date | null;
  vanished: boolean;
  raw: string;
}

/** Returns the stored notices of a venue, oldest first. */
export async function noticesOf(db: Db, venue: string): Promise<KeptNotice[]> {
  return db.query<KeptNotice>(sql`
    select n.*, i.raw
    from api.notice n
    join notice i using (notice_id)
    join venue v using (venue_id)
    where v.venue = ${venue}
    order by n.started_at, n.notice_id
  `);
}

export async function changesOf(db: Db, id: string) {
  return db.query<{ at: Date; status: string; impact: string | null; title: string; vanished: boolean }>(sql`
    select c.at, c.status, c.impact, c.title, c.vanished
    from notice_change c
    join notice i using (notice_id)
    where i.external_id = ${id}
    order by c.at
  `);
}

export async function feedOf(db: Db, venue: string) {
  const [row] = await db.query<{ state: string; problem: string | null; since: Date | null; read_at: Date | null }>(sql`
    select f.state, f.problem, f.since, f.read_at
    from api.feed f
    join venue v using (venue_id)
    where v.venue = ${venue}
  `);
  return row!;
}
