import { countsAsAway } from "../../shared/database/away.js";
import type { Log } from "../../shared/log/log.js";
import { startLoop } from "../../shared/process/loop.js";
import { stackOf } from "../../shared/process/user-error.js";
import { leaseMs as usualLeaseMs } from "./heartbeat.js";

export interface VenueLeaseOptions {
  /**
   * Says that this probe lives.
   *
   * @param mayTakeOver whether what dead ones held may be taken
   * @returns the venues to measure; null where the region is unknown
   */
  keep: (mayTakeOver: boolean) => Promise<string[] | null>;
  /** Says goodbye. */
  leave: () => Promise<void>;
  /** Measures these venues, and no others, from now on. */
  watch: (venues: readonly string[]) => void;
  /** All there are, for a database that is away from the start. */
  allVenues: readonly string[];
  log: Log;
  leaseMs?: number;
}

export interface VenueLease {
  /** When the database last heard of this probe; null before that. */
  renewedAt: () => Date | null;
  close: () => Promise<void>;
}

/** A probe that begins without the database waits so long for its share, and then measures all. */
const patienceMs = 5_000;

/** For saying goodbye; who does not manage is taken for dead when its lease has run out. */
const goodbyeMs = 500;

/**
 * Holds this probe's share of the region's venues, by a lease that is renewed three times in its length.
 *
 * Without the database it goes on with what it held. Others that can reach it may take that over meanwhile; what both
 * measure is stored once, by the key of the samples.
 */
export function startVenueLease({
  keep,
  leave,
  watch,
  allVenues,
  log,
  leaseMs = usualLeaseMs,
}: VenueLeaseOptions): VenueLease {
  /** Since when every renewal came in time, as of `performance.now()`. */
  let steadySinceMs = performance.now();
  let renewedMs = steadySinceMs;
  let renewedAt: Date | null = null;
  let failing = false;
  let unknown = false;
  let closed = false;
  const impatience = setTimeout(watchAll, patienceMs);

  function watchAll() {
    log.warn("no share of the venues was given to this probe: it measures all");
    watch(allVenues);
  }

  async function renew(): Promise<number> {
    const begunMs = performance.now();
    // Who was cut off does not know yet who else was: the others first say that they live.
    if (begunMs - renewedMs > leaseMs) steadySinceMs = begunMs;
    try {
      const venues = await keep(begunMs - steadySinceMs >= leaseMs);
      if (closed) return 0;
      clearTimeout(impatience);
      renewedMs = begunMs;
      renewedAt = new Date();
      if (failing) log.info("this probe's lease is renewed again");
      failing = false;
      if (venues) watch(venues);
      else if (!unknown)
        log.error(
          "the database does not know this probe's region: run `venuewatch migrate` with the registry that has it",
        );
      unknown = venues === null;
    } catch (error) {
      if (countsAsAway(log, "lease renewals", error)) return leaseMs / 3;
      if (!failing)
        log.error("this probe's lease is not renewed: it goes on measuring", {
          stack: stackOf(error),
        });
      failing = true;
    }
    return leaseMs / 3;
  }

  const loop = startLoop(renew);
  return {
    renewedAt: () => renewedAt,
    async close() {
      closed = true;
      clearTimeout(impatience);
      const gone = loop.end().then(leave);
      await Promise.race([
        gone.catch((error: unknown) =>
          log.warn("this probe's share is free when its lease has run out", {
            error,
          }),
        ),
        new Promise((resolve) => setTimeout(resolve, goodbyeMs).unref()),
      ]);
    },
  };
}
