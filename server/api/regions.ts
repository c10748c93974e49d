import type { RequestHandler } from "express";
import { rulesRow } from "../engine/rules.js";
import { answerJson } from "./answer.js";
import type { Snapshots } from "./snapshot.js";

/** `/v1/regions`: the fleet, as measured, and its quorum. */
export function regionsRoute(snapshots: Snapshots): RequestHandler {
  return async (_request, response) => {
    const snapshot = await snapshots(
      "regions",
      [],
      [rulesRow.quorum_min_regions],
    );
    await answerJson(response, snapshot!);
  };
}
