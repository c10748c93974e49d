/** A migration that was begun is complete: its definitions are whole, and its registry is published. */
import { definitionsMade } from "../../server/database/schema-state.js";
import { sql } from "../../shared/database/pool.js";
import { watchedVenues } from "../../shared/registry/chain-venues.js";
import type { Cluster } from "../cluster.js";

export async function checkMigrations({ ask, operator, registry, largerRegistry, ledger }: Cluster): Promise<string[]> {
  if (!operator.isDone()) return ["the operator is still migrating"];
  const hasMigrated = ledger.periods.has("registry");
  const expected = watchedVenues(hasMigrated ? largerRegistry : registry)
    .map(({ id }) => id)
    .join(" ");
  const [made, [row]] = await ask((pool) =>
    Promise.all([
      definitionsMade(pool),
      pool.query<{ venues: string }>(sql`
        select string_agg(venue, ' ' order by position) as venues from venue where published
      `),
    ]),
  );
  return [
    ...(made?.intact ? [] : ["the database's views and functions are incomplete"]),
    ...(row!.venues === expected ? [] : [`expected the venues ${expected} to be published, got ${row!.venues}`]),
  ];
}
