import type { DatabaseError } from "pg";
import type { Vantage } from "../shared/config/setting-values.js";
import { countsAsAway } from "../shared/database/fault.js";
import { type Db, sql } from "../shared/database/pool.js";
import type { Log } from "../shared/log/log.js";
import type { Trouble, UnmeasuredReason } from "../shared/measurement/sample.js";
import { startLoop } from "../shared/process/loop.js";
import { stackOf } from "../shared/process/user-error.js";
import type { ClockError } from "./measure/clock-error.js";

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

/** A probe's report about itself, which `/v1/regions` shows. */
export interface ProbeReport {
  region: string;
  /** A UUID; the same after a restart in the same data directory. */
  process: string;
  version: string;
  startedAt: Date;
  /** Slots without a sample since the start, by reason. */
  unmeasured: Partial<Record<UnmeasuredReason, number>>;
  troubles: readonly Trouble[];
  /** Null while too few venues agree. */
  clock: ClockError | null;
  /** Ids of the venues in its registry. */
  known: readonly string[];
  /** Null if its operator has not configured one. */
  vantage: Vantage | null;
  /** Fingerprint of its machine. */
  machine: string | null;
}

/** How long after a heartbeat a probe counts as alive. */
const usualLeaseMs = 6_000;

/**
 * Reports that a probe is alive, and takes its share of the region's venues. Venues that other probes have taken over
 * from it are no longer in the result.
 *
 * @param mayTakeOver whether it may also take the venues of a probe that seems to be dead
 * @returns ids of the venues to measure; null if the database does not know the region
 */
export async function sendHeartbeat(
  db: Db,
  report: ProbeReport,
  mayTakeOver: boolean,
  forMs = usualLeaseMs,
): Promise<string[] | null> {
  const { region, process, clock, vantage } = report;
  const [kept] = await db.query<{ venues: string[]; settled: boolean }>(sql`
    select venues, settled
    from upkeep.renew_probe(
      ${region}, ${process}, ${report.version}, ${report.startedAt}, ${forMs},
      ${JSON.stringify(occurringReasons(report.unmeasured))}, ${JSON.stringify(report.troubles)},
      ${clock?.errorMs ?? null}, ${clock?.withinMs ?? null}, ${report.known},
      ${vantage?.name ?? null}, ${vantage?.place ?? null}, ${vantage?.network ?? null}, ${report.machine}
    )
  `);
  if (!kept) return null;
  if (kept.settled) return kept.venues;
  const [shared] = await db.query<{ venues: string[] }>(
    sql`select venues from upkeep.share_venue_leases(${region}, ${process}, ${report.known}, ${mayTakeOver})`,
  );
  return shared!.venues;
}

/** Gives up the probe's lease, so that others can take its venues at once. */
export async function endLease(db: Db, region: string, process: string): Promise<void> {
  await db.query(sql`select upkeep.release_venue_leases(${region}, ${process})`);
}

function occurringReasons(counts: ProbeReport["unmeasured"]): typeof counts {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
