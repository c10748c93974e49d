import { type Db, sql } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";
import type { Channel } from "./channel.js";

/** Oldest first. */
export async function channelsOf(
  db: Db,
  { id = null, removed = false }: { id?: number | null; removed?: boolean },
): Promise<Channel[]> {
  const rows = await db.file<{ body: Channel }>("channels", [id, removed]);
  return rows.map(({ body }) => body);
}

/**
 * The channel with that number, which may be a removed one.
 *
 * @throws UserError when there is none
 */
export async function channelOf(db: Db, id: number): Promise<Channel> {
  const [channel] = await channelsOf(db, { id, removed: true });
  if (channel) return channel;
  throw await noChannel(db, id);
}

/**
 * Locks a channel for a change, until the transaction ends.
 *
 * @throws UserError when no channel has that number, or when it was removed
 */
export async function standingChannel(tx: Db, id: number): Promise<Channel> {
  await tx.query(sql`select from channel where channel_id = ${id} for no key update`);
  const [channel] = await channelsOf(tx, { id });
  if (channel) return channel;
  throw await noChannel(tx, id);
}

/** The error for a number that no channel has, or only a removed one. */
export async function noChannel(db: Db, id: number): Promise<UserError> {
  const [gone] = await channelsOf(db, { id, removed: true });
  if (gone)
    return new UserError(
      `channel ${id} was removed at ${gone.removedAt} and its destination was wiped; add another channel`,
    );
  const there = (await channelsOf(db, {})).map((channel) => channel.id);
  return new UserError(
    `there is no channel ${id}; ` +
      (there.length > 0 ? `the channels are ${there.join(", ")}` : "add one with venuewatch channel add"),
  );
}
