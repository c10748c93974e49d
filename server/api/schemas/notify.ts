import { generatedAt, integer, named, object, orNull } from "./shapes.js";

export const notifyResponse = named(
  "NotifyResponse",
  object(
    "How soon alerts arrive: from the first bad sample of an incident, its `startedAt`, until a channel had answered to the alert of its opening that it has it, over all channels. Closings, escalations, retracted incidents, failures, what an operator asked for, and events that waited for more than an hour until we began to send them do not count.",
    {
      generatedAt,
      days: integer("Length of the window: 30.", 30, 1),
      deliveries: integer("Delivered opening alerts: what the percentiles are of.", 12),
      p50Ms: orNull(integer("Median; null when there is no delivery.", 21_400)),
      p95Ms: orNull(integer("95th percentile; null when there is no delivery.", 38_900)),
    },
  ),
);
