import type { SealedDestination } from "../channels/open-destination.js";
import type { Alert } from "../formats/alert.js";

/** One row of `claim_deliveries.sql`. */
export type ClaimedDelivery = DroppedDelivery | DueDelivery;

interface AnyClaimed {
  delivery_id: number;
  event_id: number;
  kind: string;
  channel_id: number;
  slug: string;
}

export interface DroppedDelivery extends AnyClaimed {
  state: "dropped";
  reason: string;
}

export interface DueDelivery extends AnyClaimed, SealedDestination {
  state: "due";
  taken_over: boolean;
  attempt_id: number;
  /** By the database's clock. */
  claimed_at: Date;
  body: Alert;
  /** Rows for `makeRecentlySent`. */
  event: Record<string, unknown>;
  incident: Record<string, unknown>;
}

/** Names a delivery in log lines. */
export function fieldsOf({ delivery_id: delivery, event_id: event, channel_id: channel, kind, slug }: AnyClaimed) {
  return { delivery, event, channel, kind, slug };
}
