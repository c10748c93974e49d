import { type Db, sql } from "../../shared/database/pool.js";
import { UserError } from "../../shared/process/user-error.js";

/** The error for a slug that no incident has. It suggests similar slugs. */
export async function unknownIncident(db: Db, slug: string): Promise<UserError> {
  const alike = await slugsAlike(db, slug);
  return new UserError(
    `there is no incident ${JSON.stringify(slug)}; ` +
      (alike.length > 0
        ? `of that venue and day there are ${alike.join(", ")}`
        : "a slug looks like kraken-2026-01-31-rest-outage, and /v1/incidents lists them"),
  );
}

/** In a mistyped slug, the venue and the day are usually right. */
async function slugsAlike(db: Db, slug: string): Promise<string[]> {
  const venueAndDay = /^[a-z0-9-]+-\d{4}-\d\d-\d\d/.exec(slug)?.[0];
  if (!venueAndDay) return [];
  const rows = await db.query<{ slug: string }>(sql`
    select slug from incident
    where starts_with(slug, ${`${venueAndDay}-`}) and retracted_at is null
    order by started_at, slug
    limit 10
  `);
  return rows.map((row) => row.slug);
}
