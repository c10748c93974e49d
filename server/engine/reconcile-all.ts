import type { Pool } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { type RollupDifference, reconcile, type ReconciledWindow } from "./reconcile.js";

export interface ReconciledAll {
  /** Of venues: an hour of fifteen venues counts fifteen times. */
  hours: number;
  /** Each was made again. */
  differences: (RollupDifference & { venue: string })[];
}

/** Goes over everything that has its samples, once. Ends early when it is told to stop. */
export async function reconcileAll(
  pool: Pool,
  log: Log,
  { signal, onProgress }: { signal: AbortSignal; onProgress?: (share: number) => void },
): Promise<ReconciledAll> {
  const windows = largest(await pool.file<ReconciledWindow>("reconcile_window", [new Date(), null]));
  const total = windows.reduce((sum, { hours }) => sum + hours.length, 0);
  const done: ReconciledAll = { hours: 0, differences: [] };
  for (const window of windows) {
    if (signal.aborted) break;
    const { venue } = window;
    await reconcile(pool, log, window, {
      compared: () => {},
      differs: (one) => done.differences.push({ ...one, venue }),
    });
    done.hours += window.hours.length;
    onProgress?.(done.hours / total);
  }
  return done;
}

/** The hours of days within five days that are looked at are looked at once, and both are added up from them. */
export function largest(windows: ReconciledWindow[]): ReconciledWindow[] {
  const within = (one: ReconciledWindow, other: ReconciledWindow) =>
    other !== one && other.venue_id === one.venue_id && other.from <= one.from && other.to >= one.to;
  return windows
    .filter((one) => !windows.some((other) => within(one, other)))
    .map((one) => ({
      ...one,
      sums: [...windows.filter((other) => within(other, one)), one].flatMap(({ sums }) => sums),
    }));
}
