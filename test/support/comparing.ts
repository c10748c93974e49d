/** Incidents of ours beside venues' notices, over some measured days before yesterday, and what the API compares. */
import type { Test } from "tap";
import { type Db, sql } from "../../shared/database/pool.js";
import { accepted, tick } from "../../server/core/engine/tick.js";
import { serve } from "./api.js";
import { migratedDatabase } from "./database.js";
import { forget, pastIncident } from "./fleet.js";
import { forgetSaid, type notice, readThrough, said, whole } from "./stored-notices.js";

export const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Every request uses a clock that is this late, so that time can advance. */
const askedLaterMs = 100_000;
/** The beginning of yesterday, UTC: everything before it is more than six hours old. */
const over = Math.floor((Date.now() - askedLaterMs) / dayMs) * dayMs - dayMs;
/** Returns the instant that many hours earlier. */
export const at = (hoursAgo: number) => new Date(over - hoursAgo * hourMs);
/** Returns the window that reaches back that many days before it. */
export const windowOf = (days: number) => days + 2;
export const measuredDays = 6;

export interface DetectionRow {
  observed: boolean;
  measuredDays: number;
  venuesCompared: number;
  venuesUnseen: number;
  venuesOnlyMaintenance: number;
  venuesWithoutFeed: number;
  ours: number;
  oursCompared: number | null;
  theirs: number | null;
  theirsCompared: number | null;
  paired: number | null;
  oursNear: number | null;
  oursOnly: number | null;
  theirsNear: number | null;
  theirsOnly: number | null;
  maintenances: number | null;
  others: number | null;
  subjectMatched: boolean;
  leads: number | null;
  aheadUncorrelated: number | null;
}

export interface ComparedVenues {
  fleet: DetectionRow;
  venues: { id: string; detection: DetectionRow }[];
}

export interface ComparedIncident {
  slug: string;
  official: { id: string; subjectMatched: boolean; aheadUncorrelated: number | null } | null;
}

/** A database with measured days and no incidents, and a server that compares as of an instant a little ago. */
export async function startComparing(t: Test) {
  const { pool, registry, url } = await migratedDatabase(t);
  await forget(pool);
  await measuredButFor(pool, { venue: "kraken", from: at(40), to: at(30) });
  // one server, queried at a different tick each time, none of them in the future
  const now = () => new Date(Date.now() - askedLaterMs);
  const api = await serve(t, { pool, registry });
  const ask = async <Body>(path: string): Promise<Body> => {
    const { body, status } = await api.ask<Body>(path);
    if (status !== 200) throw new Error(`${path}: ${status}`);
    return body;
  };

  async function compared(venue: string | null, days = windowOf(measuredDays)) {
    accepted(await tick(pool, now()));
    const { fleet, venues } = await ask<ComparedVenues>(`/v1/detection?days=${days}`);
    return venue === null ? fleet : venues.find(({ id }) => id === venue)!.detection;
  }

  async function begin() {
    await pool.script("truncate incident, alert_event, delivery, delivery_attempt restart identity");
    await forgetSaid(pool);
    for (const venue of ["okx", "kraken", "bybit", "deribit", "binance"])
      await readThrough(pool, venue, at(measuredDays * 24), at(0));
  }

  async function post(venue: string, ...notices: ReturnType<typeof notice>[]) {
    await said(pool, venue, now(), [whole(...notices)]);
  }

  return { pool, registry, url, api, now, ask, compared, begin, post };
}

/** Inserts incidents of a venue's ticker that began at these times and opened 20 s later. Returns their slugs. */
export async function incidents(db: Db, venue: string, ...startedAt: Date[]): Promise<string[]> {
  const slugs = [];
  for (const began of startedAt)
    slugs.push(await pastIncident(db, { venue, component: "rest:ticker", startedAt: began, minutes: 5 }));
  return slugs;
}

/** Measures venues once in ten minutes for some days before today, except one of them in the given span. */
async function measuredButFor(db: Db, hole: { venue: string; from: Date; to: Date }): Promise<void> {
  await db.query(sql`
    insert into sample (ts, component_id, region_id, good)
    select ts, c.component_id, g.region_id, true
    from component c
    join venue v using (venue_id)
    -- two regions, because one alone does not count as measured
    join region g on g.position <= 2
    cross join generate_series(${at(measuredDays * 24)}, ${at(0)}::timestamptz - interval '1 s', '10 minutes') ts
    where v.venue in ('okx', 'kraken', 'kraken-futures', 'bybit', 'deribit', 'binance', 'gate')
      and not (v.venue = ${hole.venue} and ts >= ${hole.from} and ts < ${hole.to})
  `);
  await db.query(sql`call upkeep.refresh_all(${at(measuredDays * 24)}, ${at(-24)})`);
}
