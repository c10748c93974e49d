/** Finds the venue whose listener answers a status feed. */
import type { Venue } from "../../shared/registry/registry.js";

/**
 * Where several venues share one feed, the first of them serves it: the feed has one address, as in the registry. Null:
 * there is no feed.
 */
export function feedServer({ official }: Venue, venues: readonly Venue[]): Venue | null {
  if (!official?.api) return null;
  return venues.find((venue) => venue.official?.api === official.api)!;
}
