import type { RequestHandler } from "express";
import { answerJson } from "../api/answer.js";
import { freshness, integer, named, object, orNull } from "../api/shapes.js";
import type { Boards } from "./snapshot.js";

/** `/v1/notify`: how soon alerts arrive. */
export function notifyRoute(boards: Boards): RequestHandler {
  return async (_request, response) => {
    await answerJson(response, (await boards.notify())!);
  };
}

export const notifyResponse = named(
  "NotifyResponse",
  object(
    "How soon alerts arrive: from an incident's first bad sample, its `startedAt`, until a channel accepted the opening alert, over all channels. Closings, escalations, retracted incidents, failures, deliveries that an operator requested, and events that waited for more than an hour before their delivery began do not count.",
    {
      ...freshness,
      days: integer("Length of the window: 30.", 30, 1),
      deliveries: integer("Delivered opening alerts, over which the percentiles are computed.", 12),
      p50Ms: orNull(integer("Median; null if there is no delivery.", 21_400)),
      p95Ms: orNull(integer("95th percentile; null if there is no delivery.", 38_900)),
    },
  ),
);
