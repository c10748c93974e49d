import type { RequestHandler } from "express";
import { answerJson, queryOf } from "./answer.js";
import { category, integer } from "./parameters.js";
import { reliabilityTable } from "./schemas/tables.js";
import { formReader, type TableFormat } from "./table-form.js";
import type { AnswerTable } from "./tables.js";
import { reliabilityHeldMs, type Windows } from "./windows.js";

export const reliabilityParameters = {
  days: integer("Length of the window in UTC days, today included.", 1, 90, 90),
  category,
};

/** `/v1/reliability`: the venues compared over a window; with an ending, as a table. */
export function reliabilityRoute(
  windows: Windows,
  answerTable: AnswerTable,
  ending: TableFormat | null = null,
): RequestHandler {
  const read = formReader(reliabilityParameters, ending);
  return async (request, response) => {
    const { days, category, format, decimal } = read(queryOf(request));
    if (format === "json") return answerJson(response, await windows.reliability(days, category));
    const name = `${category ?? "all"}-reliability-days-${days}`;
    const table = {
      file: "reliability_csv",
      values: [days, category],
      schema: reliabilityTable,
      name,
      holdMs: reliabilityHeldMs,
    };
    await answerTable(response, { format, decimal }, table);
  };
}
