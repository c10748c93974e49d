import { type Db, sql } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";
import type { Alert } from "../formats/alert.js";
import { noChannel } from "../channels/channels.js";
import { deliveryOf } from "./list-deliveries.js";
import type { Delivery } from "./delivery.js";
import { type Destination, type PagingDestination } from "../formats/webhook-request.js";
import { formatAlert } from "../formats/format-alert.js";
import { openDestination, type SealedDestination } from "../channels/open-destination.js";
import type { Poster } from "./post.js";
import type { DeliveryOutcome } from "./attempt-outcome.js";
import { deliveryRules } from "./retry-rules.js";
import type { Sealing } from "../channels/sealing.js";
import { testAlert } from "../formats/test-alert.js";

/** How to send for an operator who waits for the result. */
export interface SendNowOptions {
  db: Db;
  sealing: Sealing;
  poster: Poster;
  /** Public address of the API, without a slash at the end. */
  baseUrl: string;
  userAgent: string;
  /** The sender, for the log. */
  sender: string;
  /** Absent: the real ones of the paging service. */
  pagingEndpoints?: Record<PagingDestination["serviceRegion"], string>;
}

export interface SentNow {
  delivery: Delivery;
  outcome: DeliveryOutcome;
}

/**
 * Sends one alert at once with one attempt, to a channel that is on or off. It is logged as a delivery of its own
 * before it is sent, and changes neither the channel's count of failures nor its state.
 *
 * @param event null: a test
 * @throws UserError when the channel does not exist or was removed, when it was encrypted with another key, or when the
 * event is no longer public
 */
export async function sendNow(by: SendNowOptions, channel: number, event: number | null): Promise<SentNow> {
  const to = await destinationOf(by, channel);
  const alert = event === null ? testAlert(new Date()) : await alertOf(by.db, event);
  const [opened] = await by.db.file<Opened>("by_hand_open", [channel, event, by.sender, deliveryRules.lease_ms]);
  const { delivery_id: deliveryId, attempt_id: attemptId, at } = opened!;
  const outcome = await outcomeOf(by, to, alert, { at, deliveryId });
  await by.db.file("settle_or_retry_deliveries", [
    null,
    JSON.stringify([{ attemptId, ...outcome, agoMs: 0, spread: 1 }]),
    JSON.stringify(deliveryRules),
  ]);
  return { delivery: await deliveryOf(by.db, deliveryId), outcome };
}

interface Opened {
  delivery_id: number;
  attempt_id: number;
  /** By the database's clock. */
  at: Date;
}

async function destinationOf({ db, sealing }: SendNowOptions, channel: number): Promise<Destination> {
  const [sealed] = await db.file<SealedDestination>("channel_destination", [channel]);
  if (!sealed) throw await noChannel(db, channel);
  return openDestination(sealed, sealing);
}

async function alertOf(db: Db, event: number): Promise<Alert> {
  const [alert] = await db.query<{ body: Alert }>(sql`select body from api.alert where event_id = ${event}`);
  if (alert) return alert.body;
  throw new UserError(`event ${event} cannot be sent: its incident was retracted, or its venue is no longer published`);
}

/** Faults of our own become an outcome too, so that the log has them and the command shows them. */
async function outcomeOf(
  { poster, baseUrl, userAgent, pagingEndpoints }: SendNowOptions,
  to: Destination,
  alert: Alert,
  { at, deliveryId }: { at: Date; deliveryId: number },
): Promise<DeliveryOutcome> {
  try {
    const more = pagingEndpoints && { pagingEndpoints };
    const how = { at, deliveryId, baseUrl, userAgent, ...more };
    return await poster.post(formatAlert(to, alert, how));
  } catch (error) {
    return {
      result: "ours",
      error: (error as Error).message,
      status: null,
      durationMs: 0,
      answer: null,
      retryAfterMs: null,
    };
  }
}
