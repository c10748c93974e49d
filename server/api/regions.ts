import type { RequestHandler } from "express";
import { answerJson } from "./answer.js";
import type { Snapshots } from "./snapshot.js";

/** `/v1/regions`: the fleet, as measured, and its quorum. */
export function regionsRoute(snapshots: Snapshots): RequestHandler {
  return async (_request, response) => {
    const snapshot = await snapshots("regions", [], []);
    await answerJson(response, snapshot!);
  };
}
