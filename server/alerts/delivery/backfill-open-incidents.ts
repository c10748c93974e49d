import type { Db } from "../../../shared/database/pool.js";

/**
 * Tells a channel of what is open now and did not reach it. To be run while events are held (event-lock.ts).
 *
 * @returns how many alerts are due by this
 */
export async function backfillOpenIncidents(tx: Db, channel: number): Promise<number> {
  return (await tx.file("channel_queue_open", [channel])).length;
}
