/** Entries that nobody has compared with their venues for a while, as an operator of an old release has them. */
import type { Registry, Venue, VenueEnding } from "../shared/registry/registry.js";

export interface AgedEntry {
  /** Registry id. */
  venue: string;
  /** The day of its last comparison. */
  checkedAt?: string;
  /** What ends, or has ended. */
  until?: VenueEnding;
  /**
   * A host of the venue, with its port if the address has one: the entry still has a former port of it, at which
   * nothing listens any more.
   */
  moved?: string;
}

export function agedRegistry(registry: Registry, entries: readonly AgedEntry[]): Registry {
  return { ...registry, venues: registry.venues.map((venue) => aged(venue, entries)) };
}

function aged(venue: Venue, entries: readonly AgedEntry[]): Venue {
  const { checkedAt, until } = entries.find((one) => one.venue === venue.id) ?? {};
  return { ...venue, ...(checkedAt && { checkedAt }), ...(until && { until }) };
}

/** Whether the entry has a former port of this host. */
export function hasMoved(entries: readonly AgedEntry[], venue: string, host: string): boolean {
  return entries.some((one) => one.venue === venue && one.moved === host);
}

/** @throws Error that names every entry that is of no venue, or of none of its hosts */
export function checkAged(
  entries: readonly AgedEntry[],
  registry: Registry,
  hostsOf: (venue: Venue) => string[],
): void {
  const problems = entries.flatMap(({ venue: id, moved }) => {
    const venue = registry.venues.find((one) => one.id === id);
    if (!venue) return [`the registry has no venue ${id}`];
    const hosts = hostsOf(venue);
    return moved === undefined || hosts.includes(moved)
      ? []
      : [`${id} has no host ${moved}; expected one of ${hosts.join(", ")}`];
  });
  if (problems.length > 0) throw new Error(`The world cannot age its entries:\n${problems.join("\n")}`);
}
