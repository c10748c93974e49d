import type { RequestHandler } from "express";
import { answerJson } from "./answer.js";
import type { Snapshots } from "./snapshot.js";

/** `/v1/notify`: how soon alerts arrive. */
export function notifyRoute(snapshots: Snapshots): RequestHandler {
  return async (_request, response) => {
    const snapshot = await snapshots("notify", [], []);
    await answerJson(response, snapshot!);
  };
}
