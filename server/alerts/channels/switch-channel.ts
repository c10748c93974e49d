import { type Pool, sql } from "../../../shared/database/pool.js";
import type { Channel } from "./channel.js";
import { channelOf, noChannel, standingChannel } from "./channels.js";
import { holdEvents } from "./event-lock.js";
import { backfillOpenIncidents } from "../delivery/backfill-open-incidents.js";

export interface Switched {
  /** The channel before the change. */
  before: Channel;
  channel: Channel;
}

/**
 * Switches a channel on, for whatever reason it was off, and resets its count of failures.
 *
 * @param open also queue alerts of open incidents that were not delivered to it
 * @throws UserError when the channel does not exist or was removed
 */
export async function enableChannel(pool: Pool, id: number, open: boolean): Promise<Switched & { queued: number }> {
  return pool.transaction(async (tx) => {
    if (open) await holdEvents(tx);
    const before = await channelOf(tx, id);
    // lock deliveries before the channel, as dispatchers do: the other order could deadlock
    const queued = open ? await backfillOpenIncidents(tx, id) : 0;
    const [on] = await tx.query(sql`
      update channel set off_at = null, off_cause = null, failures = 0
      where channel_id = ${id} and removed_at is null
      returning channel_id
    `);
    if (!on) throw await noChannel(tx, id);
    return { before, channel: await channelOf(tx, id), queued };
  });
}

/**
 * Switches a channel off. A channel that is already off keeps its reason.
 *
 * @throws UserError when the channel does not exist or was removed
 */
export async function disableChannel(pool: Pool, id: number): Promise<Switched> {
  return pool.transaction(async (tx) => {
    const before = await standingChannel(tx, id);
    await tx.query(sql`
      update channel set off_at = clock_timestamp(), off_cause = 'operator'
      where channel_id = ${id} and off_at is null
    `);
    return { before, channel: await channelOf(tx, id) };
  });
}
