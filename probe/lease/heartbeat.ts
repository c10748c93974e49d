import { type Trouble } from "../../shared/measurement/trouble.js";
import type { Db, Pool } from "../../shared/database/pool.js";
import type { UnmeasuredReason } from "../../shared/measurement/unmeasured.js";
import type { Vantage } from "../../shared/config/vantage.js";

/** How a probe's clock stands to those of the venues. */
export interface ClockError {
  /** Our clock less theirs, milliseconds. */
  errorMs: number;
  /** The truth is no further off than this, milliseconds. */
  withinMs: number;
}

/** What a probe says of itself. It stands on `/v1/regions`. */
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
  /** Ids of the venues that its registry has. */
  known: readonly string[];
  /** Null where its operator does not say. */
  vantage: Vantage | null;
  /** Fingerprint of the machine that it runs on. */
  machine: string | null;
}

/** For how long a probe is believed to be alive after it said so. */
export const leaseMs = 6_000;

/**
 * Says that a probe is alive, and takes what is its share of the region's venues. What others took of it is no longer
 * in the answer.
 *
 * @param mayTakeOver whether what another one held that seems to be dead may be taken, too
 * @returns ids of the venues to measure; null where the database does not know the region
 */
export async function sendHeartbeat(
  pool: Pool,
  report: ProbeReport,
  mayTakeOver: boolean,
  forMs = leaseMs,
): Promise<string[] | null> {
  const { region, process, clock, vantage } = report;
  const [kept] = await pool.file<{ venues: string[]; settled: boolean }>("keep_probe", [
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
  return pool.transaction(async (tx) => {
    await tx.file("hold_watch", [region]);
    const [shared] = await tx.file<{ venues: string[] }>("share_watch", [region, process, report.known, mayTakeOver]);
    return shared!.venues;
  });
}

/** Says goodbye, so that others take at once what a probe holds. */
export async function endLease(db: Db, region: string, process: string): Promise<void> {
  await db.file("leave_watch", [region, process]);
}

function occurring(counts: ProbeReport["unmeasured"]): typeof counts {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
