import { type Pool, sql } from "../shared/database/pool.js";
import { componentsOf } from "../shared/registry/components.js";
import type { Registry } from "../shared/registry/registry.js";

/** Adds copies of venues until there are enough components. */
export async function manyComponents(
  { pool, registry }: { pool: Pool; registry: Registry },
  wanted: number,
): Promise<(readonly [venue: string, component: string])[]> {
  const own = registry.venues.flatMap((venue) => componentsOf(venue).map(({ id }) => [venue.id, id] as const));
  const copies = Math.ceil(wanted / own.length);
  await pool.query(sql`
    with copy as (
      insert into venue (venue, name, category, position)
      select v.venue || '-copy-' || n, v.name, v.category, v.position from venue v cross join generate_series(2, ${copies}::int) n
      returning venue_id, venue
    )
    insert into component (venue_id, component, label, cadence_ms, position)
    select copy.venue_id, c.component, c.label, c.cadence_ms, c.position
    from copy
    join venue v on v.venue = regexp_replace(copy.venue, '-copy-\\d+$', '')
    join component c on c.venue_id = v.venue_id
  `);
  await pool.script("analyze");
  return Array.from({ length: copies }, (_, i) =>
    own.map(([venue, id]) => [i === 0 ? venue : `${venue}-copy-${i + 1}`, id] as const),
  )
    .flat()
    .slice(0, wanted);
}
