import type { Format } from "../channels/channel.js";

/** One event for one channel, and how it goes, as an operator sees it; made by queries/deliveries.sql. */
export interface Delivery {
  id: number;
  channel: number;
  format: Format;
  to: string;
  /** event: because it happened; open: the channel asked for what was open; replay and test: an operator asked. */
  cause: "event" | "open" | "replay" | "test";
  /** 0: a test. */
  eventId: number;
  /** Of the event; null of a test, as the three below. */
  kind: string | null;
  severity: string | null;
  incident: string | null;
  incidentRetractedAt: string | null;
  state: DeliveryState;
  /** Why it was skipped or dropped. */
  reason: string | null;
  createdAt: string;
  /** Not to be sent before then; null once it is settled. */
  dueAt: string | null;
  endedAt: string | null;
  /** Attempts that the receiver failed. */
  failures: number;
  /** Oldest first. */
  attempts: Attempt[];
}

export interface Attempt {
  startedAt: string;
  /** Null: it is under way, or its end is unknown yet. */
  endedAt: string | null;
  sentBy: string;
  result: string | null;
  status: number | null;
  error: string | null;
  durationMs: number | null;
  /** Its beginning, as the receiver wrote it: strangers' text. */
  answer: string | null;
}

export const deliveryStates = ["due", "delivered", "failed", "skipped", "dropped"] as const;
export type DeliveryState = (typeof deliveryStates)[number];
