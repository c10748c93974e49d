import type { Db } from "../../../shared/database/pool.js";

/**
 * Queues alerts of open incidents that were not delivered to a channel. Call it while events are held (event-lock.ts).
 *
 * @returns how many alerts were queued
 */
export async function backfillOpenIncidents(tx: Db, channel: number): Promise<number> {
  return (await tx.file("channel_queue_open", [channel])).length;
}
