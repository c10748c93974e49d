/** Whose listener answers the status feed of a venue. */
import type { Venue } from "../../shared/registry/registry.js";

/**
 * Of several venues that share one feed the first: it is one address, as it is in the registry. Null: there is no feed.
 */
export function feedServer({ official }: Venue, venues: readonly Venue[]): Venue | null {
  if (!official?.api) return null;
  return venues.find((venue) => venue.official?.api === official.api)!;
}
