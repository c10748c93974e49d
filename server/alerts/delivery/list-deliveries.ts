import { type Db, sql } from "../../../shared/database/pool.js";
import { unknownIncident } from "../../database/unknown-incident.js";
import { UserError } from "../../../shared/process/user-error.js";
import { channelOf } from "../channels/channels.js";
import type { Delivery, DeliveryState } from "./delivery.js";

export interface DeliveryFilter {
  channel: number | null;
  /** Slug; the incident may be retracted. */
  incident: string | null;
  state: DeliveryState | null;
  since: Date | null;
  limit: number;
}

/**
 * Newest first.
 *
 * @throws UserError when there is no such channel or incident
 */
export async function deliveriesOf(
  db: Db,
  { channel, incident, state, since, limit }: DeliveryFilter,
): Promise<Delivery[]> {
  if (channel !== null) await channelOf(db, channel);
  if (incident !== null) {
    const [found] = await db.query(sql`select from incident where slug = ${incident}`);
    if (!found) throw await unknownIncident(db, incident);
  }
  return ask(db, null, channel, incident, state, since, limit);
}

/** @throws UserError when there is no delivery of that number */
export async function deliveryOf(db: Db, id: number): Promise<Delivery> {
  const [delivery] = await ask(db, id, null, null, null, null, 1);
  if (delivery) return delivery;
  throw await unknownDeliveries(db, [id]);
}

export async function unknownDeliveries(db: Db, ids: readonly number[]): Promise<UserError> {
  const [there] = await db.query<{ least: number | null; most: number }>(
    sql`select min(delivery_id) as least, max(delivery_id) as most from delivery`,
  );
  return new UserError(
    `there is no delivery ${ids.join(", ")}; ` +
      (there?.least == null
        ? "there are no deliveries yet"
        : `the log has ${there.least} to ${there.most}; venuewatch delivery list shows them`),
  );
}

async function ask(db: Db, ...values: unknown[]): Promise<Delivery[]> {
  const rows = await db.file<{ body: Delivery }>("deliveries", values);
  return rows.map(({ body }) => body);
}
