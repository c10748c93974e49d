/** Venues that are unknown although they are measured, and what the registry says of its entries. */
import { type Db, sql } from "../../shared/database/pool.js";
import type { Venue } from "../../shared/registry/registry.js";

/** The engine judges nothing of this venue: its components are unknown, and had no incidents. */
export async function unjudge(db: Db, venue: string, reason: "never" | "ended" | "blocked"): Promise<void> {
  await db.query(sql`
    delete from unjudged u using component c, venue v
    where c.component_id = u.component_id and v.venue_id = c.venue_id and v.venue = ${venue}
  `);
  await db.query(sql`
    insert into unjudged (component_id, started_at, reason)
    select c.component_id, k.ticked_at - interval '1 minute', ${reason}
    from component c
    join venue v using (venue_id)
    cross join engine_clock k
    where v.venue = ${venue}
  `);
  await db.query(sql`
    update component_state s set state = 'unknown' from component c, venue v
    where s.component_id = c.component_id and v.venue_id = c.venue_id and v.venue = ${venue}
  `);
  await db.query(
    sql`update venue_state s set state = 'unknown' from venue v where v.venue_id = s.venue_id and v.venue = ${venue}`,
  );
  await db.query(sql`
    update incident i set retracted_at = now(), retraction_reason = 'it was never good' from component c, venue v
    where i.component_id = c.component_id and v.venue_id = c.venue_id and v.venue = ${venue}
  `);
}

type Entry = Partial<
  Pick<Venue, "sources" | "checkedAt" | "until" | "endedAt" | "limits" | "blockedIn" | "edgeCacheMs">
>;

/** Replaces what the registry says of its entry for a venue. */
export async function entryIs(db: Db, venue: string, entry: Entry): Promise<void> {
  await db.query(sql`update venue set entry = ${JSON.stringify(entry)}::jsonb where venue = ${venue}`);
}

/** Its components end on this day. */
export async function endsOn(db: Db, venue: string, day: string, because: string): Promise<void> {
  await db.query(sql`
    update component c set ends_at = ${`${day}T00:00:00Z`}::timestamptz, ends_because = ${because}
    from venue v where v.venue_id = c.venue_id and v.venue = ${venue}
  `);
}
