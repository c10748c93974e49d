import type { Pool } from "../../../shared/database/pool.js";
import type { Channel } from "./channel.js";
import { channelOf, standingChannel } from "./channels.js";

/**
 * Removes a channel: its secrets are wiped, what waits for it is skipped, its log stays.
 *
 * @returns it, and how many deliveries were skipped
 * @throws UserError when there is no such channel any more
 */
export async function removeChannel(pool: Pool, id: number): Promise<{ channel: Channel; skipped: number }> {
  return pool.transaction(async (tx) => {
    await standingChannel(tx, id);
    const [row] = await tx.file<{ skipped: number }>("channel_remove", [id]);
    return { channel: await channelOf(tx, id), skipped: row!.skipped };
  });
}
