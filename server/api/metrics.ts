import type { RequestHandler } from "express";
import { answerBody, dataCache } from "./answer.js";
import type { Snapshots } from "./snapshot.js";

/** Version 0.0.4 of Prometheus' text format. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/** Fifteen seconds, as `api.newest_minute` has it, and some for a clock of ours that goes ahead of the database's. */
const minuteCompleteMs = 20_000;

/**
 * `/metrics`: the state of every component, as Prometheus reads it. While the engine hangs no tick makes the kept body old, and
 * its latency would be of an ever older minute. So none is kept for longer than until the next minute is complete.
 *
 * @param now milliseconds since 1970
 */
export function metricsRoute(
  snapshots: Snapshots,
  now: () => number = Date.now,
): RequestHandler {
  return async (_request, response) => {
    const minute = Math.floor((now() - minuteCompleteMs) / 60_000);
    const snapshot = await snapshots("metrics", [minute], []);
    await answerBody(response, snapshot!.body, expositionType, dataCache);
  };
}
