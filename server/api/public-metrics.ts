import type { RequestHandler } from "express";
import { answerBody, dataCache } from "./answer.js";
import type { Snapshots } from "./snapshot.js";

/** Version 0.0.4 of Prometheus' text format. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/** `/metrics`: the state of every component, in Prometheus' format. */
export function metricsRoute(snapshots: Snapshots): RequestHandler {
  return async (_request, response) => {
    const snapshot = await snapshots("metrics", [], []);
    await answerBody(response, snapshot!.body, expositionType, dataCache);
  };
}
