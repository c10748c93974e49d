import { type Pool, sql } from "../../../shared/database/pool.js";
import type { Channel } from "./channel.js";
import { channelOf, noChannel, standingChannel } from "./channels.js";
import { holdEvents } from "./event-lock.js";
import { backfillOpenIncidents } from "../delivery/backfill-open-incidents.js";

export interface Switched {
  /** As it was. */
  before: Channel;
  channel: Channel;
}

/**
 * Switches a channel on, whoever switched it off; its failures are counted anew.
 *
 * @param open it is told of what is open and did not reach it
 * @throws UserError when there is no such channel any more
 */
export async function enableChannel(pool: Pool, id: number, open: boolean): Promise<Switched & { queued: number }> {
  return pool.transaction(async (tx) => {
    if (open) await holdEvents(tx);
    const before = await channelOf(tx, id);
    // deliveries first, then the channel, as dispatchers do: the other way the two would wait for each other
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
 * Switches a channel off. One that is off already stays off for the reason that it has.
 *
 * @throws UserError when there is no such channel any more
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
