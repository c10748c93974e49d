import type { Format } from "../channels/channel.js";

/** One event for one channel with its attempts, as operators see it; built by queries/deliveries.sql. */
export interface Delivery {
  id: number;
  channel: number;
  format: Format;
  to: string;
  /** event: it happened; open: --open queued an open incident; replay and test: an operator's command. */
  cause: "event" | "open" | "replay" | "test";
  /** 0: a test. */
  eventId: number;
  /** Of the event. Like the three below null for a test. */
  kind: string | null;
  severity: string | null;
  incident: string | null;
  incidentRetractedAt: string | null;
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
export type DeliveryState = (typeof deliveryStates)[number];
