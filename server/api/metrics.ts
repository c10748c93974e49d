import type { RequestHandler } from "express";
import { dataCache } from "./answer.js";
import type { Snapshots } from "./snapshot.js";

/** Version 0.0.4 of Prometheus' text format. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/** `/metrics`: the state of every component, as Prometheus reads it. */
export function metricsRoute(snapshots: Snapshots): RequestHandler {
  return async (_request, response) => {
    const snapshot = await snapshots("metrics", [], []);
    response.setHeader("Cache-Control", dataCache);
    // as bytes, because Express writes the type of a text anew, its parameters in another order
    response.setHeader("Content-Type", expositionType);
    response.send(Buffer.from(snapshot!.body));
  };
}
