import { type Pool, sql } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";
import type { Channel } from "./channel.js";
import { channelOf, standingChannel } from "./channels.js";
import type { Credential } from "./credential.js";
import type { Sealing } from "./sealing.js";
import { makeSigningSecret } from "./signing-secret.js";

export interface Rotated {
  channel: Channel;
  /** It can be shown now, and never again. */
  secret: string;
}

/**
 * Gives a native channel another signing secret. The one that it had signs beside it for so long.
 *
 * @param overlapHours 0: it ends at once
 * @throws UserError when there is no such channel any more, when it signs nothing, or when it was encrypted with
 * another key
 */
export async function rotateSecret(pool: Pool, sealing: Sealing, id: number, overlapHours: number): Promise<Rotated> {
  const secret = makeSigningSecret();
  return pool.transaction(async (tx) => {
    const { format } = await standingChannel(tx, id);
    if (format !== "native")
      throw new UserError(
        `channel ${id} is of format ${format}, and signs nothing: its ${format === "chat" ? "URL" : "key"} is what can be replaced`,
      );
    const [row] = await tx.query<{ destination: Buffer; secret: Buffer }>(
      sql`select destination, secret from channel where channel_id = ${id}`,
    );
    // under another key a sender could read the one and not the other
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
 * Gives a chat or paging channel another URL or key. It needs none of what was there, so that it also mends a channel
 * whose key is lost.
 *
 * @throws UserError when there is no such channel any more
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
