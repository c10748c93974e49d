import type { Category } from "../../shared/registry/registry.js";
import type { Snapshot, Snapshots } from "./snapshot.js";

/** Figures over windows of days: the same bodies for programs and for pages. */
export interface Windows {
  /** @param category null: all venues */
  reliability(days: number, category: Category | null): Promise<Snapshot>;
  detection(days: number): Promise<Snapshot>;
}

/**
 * With every hour measured, this takes 50 ms on a server and 90 ms on the embedded database, and the result changes
 * hourly.
 */
export const reliabilityHeldMs = 30_000;

export function makeWindows(snapshots: Snapshots): Windows {
  return {
    async reliability(days, category) {
      const values = [days, category];
      return (await snapshots("reliability", values, values, reliabilityHeldMs))!;
    },
    detection: async (days) => (await snapshots("detection", [days], [days]))!,
  };
}
