/** The end of a venue: from that day on it is neither measured nor on the board, and its history stays readable. */
import type { Venue } from "./registry.js";

type Ending = Pick<Venue, "endedAt">;

/** The first instant without it, milliseconds since 1970; Infinity: no end is known. */
export function endOfVenueMs({ endedAt }: Ending): number {
  return endedAt === undefined ? Infinity : Date.parse(`${endedAt.date}T00:00:00Z`);
}

export function hasEnded(venue: Ending, nowMs: number): boolean {
  return endOfVenueMs(venue) <= nowMs;
}

/** The registry without the venues that have ended. */
export function withoutEnded<Of extends { venues: readonly Ending[] }>(registry: Of, nowMs: number): Of {
  return { ...registry, venues: registry.venues.filter((venue) => !hasEnded(venue, nowMs)) };
}
