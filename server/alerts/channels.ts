import { type Db, sql } from "../db.js";
import { UserError } from "../user-error.js";
import type { Channel } from "./channel.js";

/** In the order in which they were added. */
export async function channelsOf(
  db: Db,
  { id = null, removed = false }: { id?: number | null; removed?: boolean },
): Promise<Channel[]> {
  const rows = await db.file<{ body: Channel }>("channels", [id, removed]);
  return rows.map(({ body }) => body);
}

/** @throws UserError when there is none of that number */
export async function channelOf(db: Db, id: number): Promise<Channel> {
  const [channel] = await channelsOf(db, { id, removed: true });
  if (channel) return channel;
  const there = (await channelsOf(db, {})).map((channel) => channel.id);
  throw new UserError(
    `there is no channel ${id}; ` +
      (there.length > 0
        ? `there are ${there.join(", ")}`
        : "there is none yet, and venuewatch channel add makes one"),
  );
}

/**
 * For a change of it: who else changes it ends first, and waits then until the transaction ends.
 *
 * @throws UserError when there is none of that number, or when it was removed
 */
export async function standingChannel(tx: Db, id: number): Promise<Channel> {
  await tx.query(
    sql`select from channel where channel_id = ${id} for no key update`,
  );
  const channel = await channelOf(tx, id);
  if (channel.removedAt === null) return channel;
  throw new UserError(
    `channel ${id} was removed at ${channel.removedAt}, and where it went is not known any more; add another`,
  );
}
