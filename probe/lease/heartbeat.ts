import { type Trouble } from "../../shared/measurement/trouble-kinds.js";
import type { Db } from "../../shared/database/pool.js";
import type { UnmeasuredReason } from "../../shared/measurement/unmeasured.js";
import type { Vantage } from "../../shared/config/vantage.js";

/** A probe's clock compared with the venues' clocks. */
export interface ClockError {
  /** Our clock minus theirs, milliseconds. */
  errorMs: number;
  /** The true difference is within this many milliseconds of `errorMs`. */
  withinMs: number;
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
export const leaseMs = 6_000;

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
  forMs = leaseMs,
): Promise<string[] | null> {
  const { region, process, clock, vantage } = report;
  const [kept] = await db.file<{ venues: string[]; settled: boolean }>("renew_probe", [
    region,
    process,
    report.version,
    report.startedAt,
    forMs,
    JSON.stringify(occurring(report.unmeasured)),
    JSON.stringify(report.troubles),
    clock?.errorMs ?? null,
    clock?.withinMs ?? null,
    report.known,
    vantage?.name ?? null,
    vantage?.place ?? null,
    vantage?.network ?? null,
    report.machine,
  ]);
  if (!kept) return null;
  if (kept.settled) return kept.venues;
  const given = [region, process, report.known, mayTakeOver];
  const [shared] = await db.file<{ venues: string[] }>("share_venue_leases", given);
  return shared!.venues;
}

/** Gives up the probe's lease, so that others can take its venues at once. */
export async function endLease(db: Db, region: string, process: string): Promise<void> {
  await db.file("release_venue_leases", [region, process]);
}

function occurring(counts: ProbeReport["unmeasured"]): typeof counts {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
