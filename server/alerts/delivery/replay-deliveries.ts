import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../../../shared/database/pool.js";
import { UserError } from "../../../shared/process/user-error.js";
import { channelOf, noChannel } from "../channels/channels.js";
import { unknownDeliveries } from "./list-deliveries.js";
import { deliveryRules } from "./retry-rules.js";
import { type SendNowOptions, sendNow, type SentNow } from "./send-now.js";

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
    if (last?.delivery.channel === replay.channel) await pause(deliveryRules.pace_ms[last.delivery.format], signal);
    if (signal.aborted) return;
    last = await sendNow(by, replay.channel, replay.event);
    const { status, retryAfterMs } = last.outcome;
    const asksToWait = retryAfterMs !== null && retryAfterMs > 0;
    if (status === 410 || asksToWait) abandoned.add(replay.channel);
    yield { replay, sent: last };
  }
}

/** Resolves at once when the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, null, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** A row of queries/replayable.sql; for a test all columns except the first two and the state are null. */
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
