import { type Pool, sql } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";
import type { Channel } from "./channel.js";
import { channelOf, standingChannel } from "./channels.js";
import type { Credential } from "./credential.js";
import type { Sealing } from "./sealing.js";
import { makeSigningSecret } from "./signing-secret.js";

export interface Rotated {
  channel: Channel;
  /** It is stored encrypted, so this is the only time to show it. */
  secret: string;
}

/**
 * Gives a native channel a new signing secret. During the overlap the old one also signs.
 *
 * @param overlapHours 0: the old secret stops signing at once
 * @throws UserError when the channel does not exist or was removed, when it is not native, or when it was encrypted
 * with another key
 */
export async function rotateSecret(pool: Pool, sealing: Sealing, id: number, overlapHours: number): Promise<Rotated> {
  const secret = makeSigningSecret();
  return pool.transaction(async (tx) => {
    const { format } = await standingChannel(tx, id);
    if (format !== "native")
      throw new UserError(
        `channel ${id} has format ${format} and no signing secret; replace its ${format === "chat" ? "URL" : "key"} instead`,
      );
    const [row] = await tx.query<{ destination: Buffer; secret: Buffer }>(
      sql`select destination, secret from channel where channel_id = ${id}`,
    );
    // if it was encrypted with another key, a sender could decrypt only one of the two
    sealing.open(row!.destination, "destination");
    sealing.open(row!.secret, "secret");
    await tx.query(sql`
      update channel
      set
        former_secret = case when ${overlapHours}::int > 0 then secret end,
        former_until = case when ${overlapHours}::int > 0 then clock_timestamp() + ${overlapHours}::int * interval '1 hour' end,
        secret = ${sealing.seal(secret, "secret")}
      where channel_id = ${id}
    `);
    return { channel: await channelOf(tx, id), secret };
  });
}

/**
 * Gives a chat or paging channel another URL or key. It does not decrypt the old one, so it also repairs a channel
 * whose CHANNEL_KEY is lost.
 *
 * @throws UserError when the channel does not exist or was removed
 */
export async function replaceCredential(
  pool: Pool,
  sealing: Sealing,
  id: number,
  { text, shownAs }: Credential,
): Promise<Channel> {
  return pool.transaction(async (tx) => {
    await standingChannel(tx, id);
    await tx.query(sql`
      update channel set destination = ${sealing.seal(text, "destination")}, shown_as = ${shownAs}
      where channel_id = ${id}
    `);
    return channelOf(tx, id);
  });
}
