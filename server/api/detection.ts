import type { RequestHandler } from "express";
import { answerJson, queryOf } from "./answer.js";
import { integer, parameterReader } from "./parameters.js";
import type { Snapshots } from "./snapshot.js";

export const detectionParameters = {
  days: integer("Length of the window in UTC days, today included.", 1, 90, 90),
};

/** `/v1/detection`: our incidents against the venues' own notices. */
export function detectionRoute(snapshots: Snapshots): RequestHandler {
  const read = parameterReader(detectionParameters);
  return async (request, response) => {
    const { days } = read(queryOf(request));
    const snapshot = await snapshots("detection", [days], [days]);
    await answerJson(response, snapshot!);
  };
}
