import type { RequestHandler } from "express";
import { answerJson, queryOf } from "./answer.js";
import { integer, parameterReader } from "./parameters.js";
import type { Windows } from "./windows.js";

export const detectionParameters = {
  days: integer("Length of the window in UTC days, today included.", 1, 90, 90),
};

/** `/v1/detection`: our incidents against the venues' own notices. */
export function detectionRoute(windows: Windows): RequestHandler {
  const read = parameterReader(detectionParameters);
  return async (request, response) => {
    const { days } = read(queryOf(request));
    await answerJson(response, await windows.detection(days));
  };
}
