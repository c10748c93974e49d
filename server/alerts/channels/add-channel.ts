import { type Db, type Pool, sql } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";
import type { Channel, Floor, Format, ServiceRegion } from "./channel.js";
import { channelsOf } from "./channels.js";
import type { Credential } from "./credential.js";
import { holdEvents } from "./event-lock.js";
import { backfillOpenIncidents } from "../delivery/backfill-open-incidents.js";
import type { Sealing } from "./sealing.js";
import { makeSigningSecret } from "./signing-secret.js";

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
  /** Also queue alerts of incidents that are open now. */
  open: boolean;
}

export interface Added {
  channel: Channel;
  /** Signing secret of a native channel. It is stored encrypted, so this is the only time to show it. */
  secret: string | null;
  /** Queued alerts of incidents that are open now. */
  queued: number;
}

/**
 * Adds a channel. It blocks new events meanwhile, so that none is missed or queued twice: an earlier event is queued
 * only with `open`, a later one is delivered as usual.
 *
 * @throws UserError when a venue does not exist, or when no venue passes both filters
 */
export async function addChannel(pool: Pool, sealing: Sealing, wanted: NewChannel): Promise<Added> {
  await refuseUnknownVenues(pool, wanted);
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
    ]);
    const { channel_id: id } = row!;
    const queued = wanted.open ? await backfillOpenIncidents(tx, id) : 0;
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
