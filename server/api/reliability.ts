import type { RequestHandler } from "express";
import { answerJson, queryOf } from "./answer.js";
import type { AnswerCsv } from "./csv.js";
import { category, format, integer, parameterReader } from "./parameters.js";
import type { Snapshots } from "./snapshot.js";

export const reliabilityParameters = {
  days: integer("Length of the window in UTC days, today included.", 1, 90, 90),
  category,
  format,
};

/**
 * With every hour measured, this takes 50 ms on a server and 90 ms on the embedded database, and the result changes
 * hourly.
 */
const heldMs = 30_000;

/** `/v1/reliability`: the venues compared over a window. */
export function reliabilityRoute(snapshots: Snapshots, answerCsv: AnswerCsv): RequestHandler {
  const read = parameterReader(reliabilityParameters);
  return async (request, response) => {
    const { days, category, format } = read(queryOf(request));
    const values = [days, category];
    if (format === "csv") {
      const name = `${category ?? "all"}-reliability-days-${days}`;
      return answerCsv(response, { file: "reliability_csv", values, name });
    }
    const snapshot = await snapshots("reliability", values, values, heldMs);
    await answerJson(response, snapshot!);
  };
}
