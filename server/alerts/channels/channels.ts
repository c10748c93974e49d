import { type Db, sql } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";
import type { Channel } from "./channel.js";

/** In the order in which they were added. */
export async function channelsOf(
  db: Db,
  { id = null, removed = false }: { id?: number | null; removed?: boolean },
): Promise<Channel[]> {
  const rows = await db.file<{ body: Channel }>("channels", [id, removed]);
  return rows.map(({ body }) => body);
}

/**
 * One that was removed too.
 *
 * @throws UserError when there is none of that number
 */
export async function channelOf(db: Db, id: number): Promise<Channel> {
  const [channel] = await channelsOf(db, { id, removed: true });
  if (channel) return channel;
  throw await noChannel(db, id);
}

/**
 * For a change of it: who else changes it ends first, and waits then until the transaction ends.
 *
 * @throws UserError when there is none of that number, or when it was removed
 */
export async function standingChannel(tx: Db, id: number): Promise<Channel> {
  await tx.query(sql`select from channel where channel_id = ${id} for no key update`);
  const [channel] = await channelsOf(tx, { id });
  if (channel) return channel;
  throw await noChannel(tx, id);
}

/** The sentence for a number that no channel has, or one that was removed. */
export async function noChannel(db: Db, id: number): Promise<UserError> {
  const [gone] = await channelsOf(db, { id, removed: true });
  if (gone)
    return new UserError(
      `channel ${id} was removed at ${gone.removedAt}, and where it went is not known any more; add another`,
    );
  const there = (await channelsOf(db, {})).map((channel) => channel.id);
  return new UserError(
    `there is no channel ${id}; ` +
      (there.length > 0 ? `there are ${there.join(", ")}` : "there is none, and venuewatch channel add makes one"),
  );
}
