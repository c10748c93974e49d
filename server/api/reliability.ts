import type { RequestHandler } from "express";
import { answerJson, queryOf } from "./answer.js";
import type { AnswerCsv } from "./csv.js";
import { category, format, integer, parameterReader } from "./parameters.js";
import type { Windows } from "./windows.js";

export const reliabilityParameters = {
  days: integer("Length of the window in UTC days, today included.", 1, 90, 90),
  category,
  format,
};

/** `/v1/reliability`: the venues compared over a window. */
export function reliabilityRoute(windows: Windows, answerCsv: AnswerCsv): RequestHandler {
  const read = parameterReader(reliabilityParameters);
  return async (request, response) => {
    const { days, category, format } = read(queryOf(request));
    if (format === "csv") {
      const name = `${category ?? "all"}-reliability-days-${days}`;
      return answerCsv(response, { file: "reliability_csv", values: [days, category], name });
    }
    await answerJson(response, await windows.reliability(days, category));
  };
}
