import type { Pool } from "../../../shared/database/pool.js";
import type { Log } from "../../../shared/log/log.js";
import type { RecentlySent } from "./recently-sent.js";

/**
 * Returns a function that takes the database's current timeline and resolves with whether it is new. After a failover,
 * it writes back what this dispatcher sent on the former primary and the new one lost: call it before anything else is
 * decided or sent.
 */
export function followTimeline(db: Pick<Pool, "transaction">, recentlySent: RecentlySent, log: Log) {
  /** The last one seen; null: none yet. */
  let timeline: string | null = null;
  return async (current: string): Promise<boolean> => {
    if (current === timeline) return false;
    if (timeline !== null) {
      const { restored, closed, skipped } = await db.transaction(async (tx) => {
        await tx.file("adopt_timeline");
        return recentlySent.restore(tx);
      });
      log.warn("the database failed over", {
        before: timeline,
        timeline: current,
        ...(restored.length > 0 && { restored }),
        ...(closed.length > 0 && { closed }),
        ...(skipped.length > 0 && { skipped }),
      });
    }
    timeline = current;
    return true;
  };
}
