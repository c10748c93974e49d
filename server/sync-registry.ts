import type { Db } from "./db.js";
import { componentsOf, type Registry, type Venue } from "./registry.js";

/** Makes the tables of what is watched agree with the registry. What it no longer names is unpublished, never deleted. */
export async function syncRegistry(db: Db, registry: Registry): Promise<void> {
  await db.file("sync_registry", [JSON.stringify(rowsOf(registry))]);
}

function rowsOf(registry: Registry) {
  return {
    regions: registry.regions.map(({ id, name }) => ({ region: id, name })),
    venues: registry.venues.map((venue) => ({
      venue: venue.id,
      name: venue.name,
      category: venue.category,
      symbol: venue.symbol,
      quote: venue.quote,
      chain: venue.chain,
      officialKind: venue.official?.kind ?? null,
      officialPage: venue.official?.page ?? null,
      officialApi: venue.official?.api ?? null,
      about: venue.official?.about ?? null,
      notAbout: venue.official?.notAbout ?? null,
      components: componentsOf(venue).map((component) => ({
        component: component.id,
        label: component.label,
        target: component.target,
        cadenceMs: component.cadenceMs,
        stallAfterMs: stallAfterMs(venue, component.id),
      })),
    })),
  };
}

function stallAfterMs(venue: Venue, component: string): number | null {
  const stream = venue.socket?.streams.find(
    ({ name }) => `ws:${name}` === component,
  );
  return stream?.stall.afterMs ?? null;
}
