import type { Pool } from "../../../shared/database/pool.js";
import type { Channel } from "./channel.js";
import { channelOf, standingChannel } from "./channels.js";

/**
 * Removes a channel: wipes its secrets and skips its waiting deliveries. The log of its deliveries stays.
 *
 * @returns the channel, and how many deliveries were skipped
 * @throws UserError when the channel does not exist or was removed
 */
export async function removeChannel(pool: Pool, id: number): Promise<{ channel: Channel; skipped: number }> {
  return pool.transaction(async (tx) => {
    await standingChannel(tx, id);
    const [row] = await tx.file<{ skipped: number }>("channel_remove", [id]);
    return { channel: await channelOf(tx, id), skipped: row!.skipped };
  });
}
