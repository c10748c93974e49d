import type { Destination } from "../formats/webhook-request.js";

/** One row of `settle_or_retry_deliveries.sql`. */
export interface Settled {
  attempt_id: number;
  delivery_id: number;
  event_id: number | null;
  channel_id: number;
  format: Destination["format"];
  state: "due" | "delivered" | "failed";
  failures: number;
  due_at: Date;
  channel_off: "failures" | "gone" | null;
  channel_failures: number;
  /** Since its event was recorded; null where this was not the first attempt, or where the cause is not `event`. */
  first_sent_after_ms: number | null;
  /** The same, until it was delivered; null where it was not. */
  delivered_after_ms: number | null;
}
