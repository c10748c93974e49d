import { setTimeout as sleep } from "node:timers/promises";
import { type Db, sql } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";
import { unknownIncident } from "../../database/unknown-incident.js";
import { channelOf, noChannel } from "./channels.js";
import { openDestination, type SealedDestination } from "./destinations.js";
import type { Alert } from "./formats/alert.js";
import { formatAlert } from "./formats/format-alert.js";
import { testAlert } from "./formats/test-alert.js";
import type { Destination, Format, PagingDestination } from "./formats/webhook-request.js";
import type { Poster } from "./post.js";
import { type DeliveryOutcome, deliveryRules } from "./retry-rules.js";
import type { Sealing } from "./sealing.js";

/** One event for one channel with its attempts, as operators see it; built by sql/alerts/deliveries.sql. */
export interface Delivery {
  id: number;
  channel: number;
  format: Format;
  to: string;
  /** event: it happened; open: --open queued an open incident or a pause; replay and test: an operator's command. */
  cause: "event" | "open" | "replay" | "test";
  /** 0: a test. */
  eventId: number;
  /** Of the event; null for a test. */
  kind: string | null;
  /** Null, as the two below, for a test and for alerts about transfers. */
  severity: string | null;
  incident: string | null;
  incidentRetractedAt: string | null;
  /** Names the venue, asset, network and direction; null for tests and for incidents. */
  transfer: string | null;
  state: DeliveryState;
  /** Why it was skipped or dropped. */
  reason: string | null;
  createdAt: string;
  /** Not sent before then; null once it is settled. */
  dueAt: string | null;
  endedAt: string | null;
  /** Attempts that failed at the receiver. */
  failures: number;
  /** Oldest first. */
  attempts: Attempt[];
}

export interface Attempt {
  startedAt: string;
  /** Null: in progress, or its end is not known yet. */
  endedAt: string | null;
  sentBy: string;
  result: string | null;
  status: number | null;
  error: string | null;
  durationMs: number | null;
  /** The start of the receiver's answer: untrusted text. */
  answer: string | null;
}

export const deliveryStates = ["due", "delivered", "failed", "skipped", "dropped"] as const;
type DeliveryState = (typeof deliveryStates)[number];

export interface DeliveryFilter {
  channel: number | null;
  /** Slug of an incident, which may be retracted, or of a transfer. */
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
    const [found] = await db.query(sql`
      select from incident where slug = ${incident}
      union all
      select from engine.alert_subject where slug = ${incident}
      limit 1
    `);
    if (!found) throw await unknownIncident(db, incident);
  }
  return askDeliveries(db, null, channel, incident, state, since, limit);
}

/** @throws UserError when there is no delivery of that number */
export async function deliveryOf(db: Db, id: number): Promise<Delivery> {
  const [delivery] = await askDeliveries(db, id, null, null, null, null, 1);
  if (delivery) return delivery;
  throw await unknownDeliveries(db, [id]);
}

async function unknownDeliveries(db: Db, ids: readonly number[]): Promise<UserError> {
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

async function askDeliveries(db: Db, ...values: unknown[]): Promise<Delivery[]> {
  const rows = await db.file<{ body: Delivery }>("deliveries", values);
  return rows.map(({ body }) => body);
}

/** An event to send again. */
export interface DeliveryReplay {
  /** The original delivery. */
  delivery: number;
  channel: number;
  event: number;
  slug: string;
}

/**
 * These deliveries in the order of their events; two of the same event for the same channel become one.
 *
 * @throws UserError when one of them does not exist or cannot be sent again, with the first such reason
 */
export async function replaysOf(db: Db, ids: readonly number[]): Promise<DeliveryReplay[]> {
  const rows = await db.file<Replayable>("replayable", [ids, null, null]);
  const unknown = ids.filter((id) => !rows.some(({ delivery_id }) => delivery_id === id));
  if (unknown.length > 0) throw await unknownDeliveries(db, unknown);
  const refusal = rows.map(whyNot).find((why) => why !== null);
  if (refusal !== undefined) throw new UserError(refusal);
  const once = new Map(rows.map((row) => [`${row.channel_id} ${row.event_id}`, row]));
  return [...once.values()].map(replayOf);
}

/**
 * Deliveries of a channel that failed or were skipped since then and were not delivered later, in the order of their
 * events.
 *
 * @throws UserError when the channel does not exist or was removed
 */
export async function missedBy(db: Db, channel: number, since: Date): Promise<DeliveryReplay[]> {
  if ((await channelOf(db, channel)).removedAt !== null) throw await noChannel(db, channel);
  const rows = await db.file<Replayable>("replayable", [null, channel, since]);
  return rows.map(replayOf);
}

/**
 * Sends them one after the other with one attempt each, at the pace that the services accept, until `signal` aborts. A
 * failure does not stop the others, but a receiver that asks to wait, or answers 410, gets no more alerts.
 */
export async function* replayAll(
  by: SendNowOptions,
  replays: readonly DeliveryReplay[],
  signal: AbortSignal,
): AsyncGenerator<{ replay: DeliveryReplay; sent: SentNow | null }> {
  const abandoned = new Set<number>();
  let last: SentNow | null = null;
  for (const replay of replays) {
    if (abandoned.has(replay.channel)) {
      yield { replay, sent: null };
      continue;
    }
    if (last?.delivery.channel === replay.channel)
      await pauseUnlessAborted(deliveryRules.pace_ms[last.delivery.format], signal);
    if (signal.aborted) return;
    last = await sendNow(by, replay.channel, replay.event);
    const { status, retryAfterMs, isGone } = last.outcome;
    const asksToWait = retryAfterMs !== null && retryAfterMs > 0;
    if (status === 410 || isGone || asksToWait) abandoned.add(replay.channel);
    yield { replay, sent: last };
  }
}

/** Resolves at once when the signal aborts. */
async function pauseUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, null, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** A row of sql/alerts/replayable.sql; for a test all columns except the first two and the state are null. */
interface Replayable {
  delivery_id: number;
  channel_id: number;
  event_id: number | null;
  state: string;
  kind: string;
  slug: string;
  retracted_at: string | null;
  retraction_reason: string | null;
  published: boolean;
  removed_at: string | null;
}

function replayOf(row: Replayable): DeliveryReplay {
  const { delivery_id, channel_id, event_id, slug } = row;
  return { delivery: delivery_id, channel: channel_id, event: event_id!, slug };
}

function whyNot(row: Replayable): string | null {
  const { delivery_id: id, channel_id: channel } = row;
  if (row.event_id === null) return `delivery ${id} was a test; venuewatch channel test ${channel} sends another`;
  if (row.removed_at !== null)
    return `delivery ${id} cannot be sent again: channel ${channel} was removed at ${row.removed_at}`;
  if (row.retracted_at !== null)
    return `delivery ${id} cannot be sent again: ${row.slug} was retracted at ${row.retracted_at}: ${row.retraction_reason}`;
  // a closing is sent anyway, to receivers that got the opening
  if (!row.published && row.kind !== "closed")
    return `delivery ${id} cannot be sent again: the venue of ${row.slug} is no longer published`;
  if (row.state === "due")
    return `delivery ${id} is still due: core will send it; sending it now could put alerts out of order`;
  return null;
}

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

interface SentNow {
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
  throw new UserError(
    `event ${event} cannot be sent: what it is about was retracted, or its venue is no longer published`,
  );
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
