import type { Clock } from "../../shared/process/clock.js";
import type { Venue } from "../../shared/registry/registry.js";
import { endOfVenueMs, hasEnded } from "../../shared/registry/venue-end.js";

/** One venue while it is being measured. */
export interface WatchedVenue {
  socketsOpen: () => number;
  /** Resolves when its last measurement has ended. */
  end(): Promise<void>;
}

export interface WatchedVenues {
  /** Measures only these venues from now on, each until its end; ignores ids that are not in the registry. */
  watchOnly: (ids: readonly string[]) => void;
  /** The venues that are being measured, by id. */
  watched: ReadonlyMap<string, WatchedVenue>;
  endAll(): Promise<void>;
}

/** Fifteen simultaneous handshakes would distort each other's measurement. */
const betweenVenuesMs = 200;

/** Longer than this no timer is set: Node fires one of more than 24.8 days at once. */
const lookAgainMs = 60 * 60_000;

/**
 * Begins and ends measuring venues of the registry, so that exactly the wanted ones are measured. The day of a venue's
 * end is looked at here too, and not only by the database, which may be away on that day.
 */
export function makeWatchedVenues(
  venues: readonly Venue[],
  begin: (venue: Venue, openAfterMs: number) => WatchedVenue,
  clock: Clock,
): WatchedVenues {
  const watched = new Map<string, WatchedVenue>();
  /** Venues that were let go, but whose last measurements still run. */
  const ending = new Map<string, Promise<void>>();
  let wanted: ReadonlySet<string> = new Set();
  let cancelTimer = () => {};

  function watchOnly(ids: readonly string[]) {
    const nowMs = clock.now();
    wanted = new Set(venues.filter((venue) => ids.includes(venue.id) && !hasEnded(venue, nowMs)).map(({ id }) => id));
    endLater(nowMs);
    for (const [id, venue] of watched) {
      if (wanted.has(id)) continue;
      watched.delete(id);
      const ended = venue.end().then(() => {
        ending.delete(id);
        beginWanted();
      });
      ending.set(id, ended);
    }
    beginWanted();
  }

  function endLater(nowMs: number) {
    cancelTimer();
    const nextMs = Math.min(...venues.filter(({ id }) => wanted.has(id)).map(endOfVenueMs));
    if (nextMs < Infinity)
      cancelTimer = clock.after(Math.min(nextMs - nowMs, lookAgainMs), () => watchOnly([...wanted]));
  }

  /**
   * A venue that was just let go begins again only after its last measurement has ended, so that a component never has
   * two measurements at once.
   */
  function beginWanted() {
    venues
      .filter(({ id }) => wanted.has(id) && !watched.has(id) && !ending.has(id))
      .forEach((venue, place) => watched.set(venue.id, begin(venue, place * betweenVenuesMs)));
  }

  return {
    watchOnly,
    watched,
    async endAll() {
      watchOnly([]);
      await Promise.all(ending.values());
    },
  };
}
