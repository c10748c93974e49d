import type { DatabaseError } from "pg";
import { countsAsAway } from "../../shared/database/away.js";
import type { Log } from "../../shared/log/log.js";
import { startLoop } from "../../shared/process/loop.js";
import { stackOf } from "../../shared/process/user-error.js";
import { leaseMs as usualLeaseMs } from "./heartbeat.js";

export interface VenueLeaseOptions {
  /**
   * Sends a heartbeat.
   *
   * @param mayTakeOver whether it may take the venues of dead probes
   * @returns the venues to measure; null if the database does not know the region
   */
  keep: (mayTakeOver: boolean) => Promise<string[] | null>;
  /** Gives up the lease. */
  leave: () => Promise<void>;
  /** Measures only these venues from now on. */
  watch: (venues: readonly string[]) => void;
  /** All venues of the registry, for a database that is away from the start. */
  allVenues: readonly string[];
  log: Log;
  leaseMs?: number;
}

export interface VenueLease {
  /** When a heartbeat last reached the database; null before the first one. */
  renewedAt: () => Date | null;
  close: () => Promise<void>;
}

/** How long a probe that starts without the database waits for its share before it measures all venues. */
const patienceMs = 5_000;

/** Time to give up the lease at shutdown. If that fails, the lease expires, and the probe is taken for dead. */
const goodbyeMs = 500;

/**
 * Holds this probe's share of the region's venues by a lease. It is renewed three times per lease duration.
 *
 * While the database is away, the probe keeps measuring the venues it held. Probes that can reach the database may
 * take these venues over meanwhile. A slot that both measure is stored once, by the key of the samples.
 */
export function startVenueLease({
  keep,
  leave,
  watch,
  allVenues,
  log,
  leaseMs = usualLeaseMs,
}: VenueLeaseOptions): VenueLease {
  /** Since when every renewal has been on time, by `performance.now()`. */
  let steadySinceMs = performance.now();
  let renewedMs = steadySinceMs;
  let renewedAt: Date | null = null;
  let failing = false;
  let unknown = false;
  let closed = false;
  const impatience = setTimeout(watchAll, patienceMs);

  function watchAll() {
    log.warn("this probe has not been assigned a share of the venues: it measures all of them");
    watch(allVenues);
  }

  async function renew(): Promise<number> {
    const startMs = performance.now();
    // A probe that was cut off cannot know whether the others were as well: it waits until they could have sent a
    // heartbeat.
    if (startMs - renewedMs > leaseMs) steadySinceMs = startMs;
    try {
      const venues = await keep(startMs - steadySinceMs >= leaseMs);
      if (closed) return 0;
      clearTimeout(impatience);
      renewedMs = startMs;
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
      if (!failing) {
        const { code, message, hint } = error as Partial<DatabaseError>;
        log.error(
          "this probe cannot renew its lease: it keeps measuring",
          code === "42501" ? { error: message, hint } : { stack: stackOf(error) },
        );
      }
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
          log.warn("this probe could not give up its lease: its venues are free once the lease expires", {
            error,
          }),
        ),
        new Promise((resolve) => setTimeout(resolve, goodbyeMs).unref()),
      ]);
    },
  };
}
