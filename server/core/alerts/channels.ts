import { type Db, type Pool, sql } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";
import { type Credential, givenOptions } from "./destinations.js";
import type { Format, ServiceRegion } from "./formats/webhook-request.js";
import { makeSigningSecret, type Sealing } from "./sealing.js";

/** A channel as operators see it, built by sql/alerts/channels.sql. It contains no secret. */
export interface Channel {
  id: number;
  format: Format;
  serviceRegion: ServiceRegion | null;
  /** The host and the end of a URL, or the end of a key. */
  to: string;
  description: string;
  floor: Floor;
  /** Null: all. */
  venues: string[] | null;
  categories: string[] | null;
  onMaintenance: OnMaintenance;
  /** Assets whose pauses of deposits and withdrawals it hears of; null: none. */
  transfers: string[] | null;
  state: "on" | "off" | "removed";
  offSince: string | null;
  offCause: "operator" | "failures" | "gone" | null;
  /** Failed attempts in a row, up to the latest. */
  failures: number;
  /** Due deliveries, without replays and tests. */
  waiting: number;
  /** Until then the previous secret also signs. */
  formerSecretUntil: string | null;
  createdAt: string;
  removedAt: string | null;
  lastAttempt: {
    delivery: number;
    startedAt: string;
    /** Null: in progress, or its end is not known yet. */
    result: string | null;
    status: number | null;
    error: string | null;
  } | null;
}

export const severityFloors = ["degraded", "outage"] as const;
type Floor = (typeof severityFloors)[number];

/** `quiet`: no alert of an incident during maintenance that its venue announced, unless it outlasts the maintenance. */
export const onMaintenanceChoices = ["alert", "quiet"] as const;
type OnMaintenance = (typeof onMaintenanceChoices)[number];

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
async function standingChannel(tx: Db, id: number): Promise<Channel> {
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

export interface NewChannel {
  format: Format;
  /** Set for the paging format only. */
  serviceRegion: ServiceRegion | null;
  credential: Credential;
  description: string;
  floor: Floor;
  /** Null: all. */
  venues: readonly string[] | null;
  categories: readonly string[] | null;
  onMaintenance: OnMaintenance;
  transfers: readonly string[] | null;
  /** Also queue alerts of incidents and pauses that last now. */
  open: boolean;
}

export interface Added {
  channel: Channel;
  /** Signing secret of a native channel. It is stored encrypted, so this is the only time to show it. */
  secret: string | null;
  /** Queued alerts of incidents and pauses that last now. */
  queued: number;
}

/**
 * Adds a channel. It blocks new events meanwhile, so that none is missed or queued twice: an earlier event is queued
 * only with `open`, a later one is delivered as usual.
 *
 * @throws UserError when a venue or an asset does not exist, or when no venue passes both filters
 */
export async function addChannel(pool: Pool, sealing: Sealing, wanted: NewChannel): Promise<Added> {
  await refuseUnknownVenues(pool, wanted);
  await refuseUnknownAssets(pool, wanted);
  const secret = wanted.format === "native" ? makeSigningSecret() : null;
  return pool.transaction(async (tx) => {
    await holdEvents(tx);
    const [row] = await tx.file<{ channel_id: number }>("channel_add", [
      wanted.format,
      wanted.serviceRegion,
      wanted.credential.shownAs,
      wanted.description,
      sealing.seal(wanted.credential.text, "destination"),
      secret === null ? null : sealing.seal(secret, "secret"),
      wanted.floor,
      wanted.venues,
      wanted.categories,
      wanted.onMaintenance,
      wanted.transfers,
    ]);
    const { channel_id: id } = row!;
    const queued = wanted.open ? await queueWhatLasts(tx, id) : 0;
    const [channel] = await channelsOf(tx, { id });
    return { channel: channel!, secret, queued };
  });
}

async function refuseUnknownVenues(db: Db, { venues, categories }: NewChannel): Promise<void> {
  const published = await db.query<{ venue: string; category: string }>(
    sql`select venue, category from venue where published order by venue`,
  );
  const ids = published.map(({ venue }) => venue);
  const unknown = (venues ?? []).filter((venue) => !ids.includes(venue));
  if (unknown.length > 0)
    throw new UserError(`--venue: there is no venue ${unknown.join(", ")}; the venues are ${ids.join(", ")}`);
  const some = published.some(
    ({ venue, category }) => (venues?.includes(venue) ?? true) && (categories?.includes(category) ?? true),
  );
  if (!some)
    throw new UserError(
      `--category: ${venues ? "no venue of --venue" : "no published venue"} has category ${categories?.join(", ")}; the channel would never get an alert`,
    );
}

async function refuseUnknownAssets(db: Db, { transfers }: NewChannel): Promise<void> {
  if (transfers === null) return;
  const rows = await db.query<{ asset: string }>(
    sql`select asset from transfer_asset where published order by position`,
  );
  const assets = rows.map(({ asset }) => asset);
  const unknown = transfers.filter((asset) => !assets.includes(asset));
  if (unknown.length > 0)
    throw new UserError(
      `--transfers: ${unknown.join(", ")} is not read; ` +
        (assets.length > 0 ? `the assets are ${assets.join(", ")}` : "the registry names no assets"),
    );
}

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
        `channel ${id} has format ${format} and no signing secret; replace its ${givenOptions[format].needs[0]} instead`,
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
 * Gives a channel that is not native another URL or key, with all that belongs to it. It does not decrypt the old one,
 * so it also repairs a channel whose CHANNEL_KEY is lost.
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

export interface Switched {
  /** The channel before the change. */
  before: Channel;
  channel: Channel;
}

/**
 * Switches a channel on, for whatever reason it was off, and resets its count of failures.
 *
 * @param open also queue alerts of open incidents and pauses that were not delivered to it
 * @throws UserError when the channel does not exist or was removed
 */
export async function enableChannel(pool: Pool, id: number, open: boolean): Promise<Switched & { queued: number }> {
  return pool.transaction(async (tx) => {
    if (open) await holdEvents(tx);
    const before = await channelOf(tx, id);
    // lock deliveries before the channel, as dispatchers do: the other order could deadlock
    const queued = open ? await queueWhatLasts(tx, id) : 0;
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

/**
 * Blocks writes of alert events until the transaction ends. It waits first for the engine's current tick and for
 * dispatchers that are expanding events, so this transaction sees all earlier events, and later events see its changes.
 *
 * The engine is blocked meanwhile: keep the transaction short, and wait for nothing in it.
 *
 * @throws UserError when the current writers do not end in time
 */
export async function holdEvents(tx: Db, withinMs = 10_000): Promise<void> {
  await tx.query(sql`select set_config('lock_timeout', ${`${withinMs}ms`}, true)`);
  try {
    await tx.query(sql`lock table alert_event in share mode`);
  } catch (error) {
    if ((error as { code?: string }).code !== "55P03") throw error;
    throw new UserError(
      `alert events were locked by a writer, usually the engine, for ${withinMs / 1000} s; nothing was changed, try again`,
      { cause: error },
    );
  }
}

/**
 * Queues alerts of open incidents and pauses that were not delivered to a channel. Call it while events are held
 * (`holdEvents`).
 *
 * @returns how many alerts were queued
 */
async function queueWhatLasts(tx: Db, channel: number): Promise<number> {
  return (await tx.file("channel_queue_open", [channel])).length;
}
