import type { Pool } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { type RollupDifference, reconcile, type ReconciledWindow } from "./reconcile.js";

export interface ReconciledAll {
  /** Counted by venue: an hour of fifteen venues counts as fifteen. */
  hours: number;
  /** Each was repaired. */
  differences: (RollupDifference & { venue: string })[];
}

/** Reconciles every window whose samples are still kept, once. Stops early when the signal is aborted. */
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

/** Drops windows within another window, and adds their sums to it: each hour is then read once. */
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
