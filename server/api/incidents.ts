import type { RequestHandler } from "express";
import type { Registry } from "../registry.js";
import { answerJson, queryOf } from "./answer.js";
import type { AnswerCsv } from "./csv.js";
import {
  category,
  choice,
  format,
  instant,
  integer,
  parameterReader,
  venueFilter,
} from "./parameters.js";
import { badParameters } from "./problem.js";
import type { Snapshots } from "./snapshot.js";

export function incidentsParameters(registry: Registry) {
  return {
    venue: venueFilter(registry),
    category,
    status: choice(
      "Open or closed ones only, or all.",
      ["open", "closed", "all"],
      "all",
    ),
    days: integer(
      "Length of the window in UTC days, today included: incidents that started in it.",
      1,
      365,
      90,
    ),
    limit: integer("Rows a page; a shorter page is the last one.", 1, 200, 50),
    before: instant(
      "Cursor: only incidents that started strictly before this instant.",
    ),
    beforeId: integer(
      "Breaks the tie where several incidents started at `before`: the id of the last one received.",
      1,
      Number.MAX_SAFE_INTEGER,
      null,
    ),
    format,
  };
}

/** `/v1/incidents`: history by pages, newest first. */
export function incidentsRoute(
  registry: Registry,
  snapshots: Snapshots,
  answerCsv: AnswerCsv,
): RequestHandler {
  const read = parameterReader(incidentsParameters(registry));
  return async (request, response) => {
    const page = read(queryOf(request));
    if (page.beforeId !== null && page.before === null)
      throw badParameters([
        {
          parameter: "beforeId",
          message:
            "expected together with before, whose ties it breaks; got it alone",
        },
      ]);
    const values = [
      page.venue,
      page.category,
      page.status,
      page.days,
      page.limit,
      page.before,
      page.beforeId,
    ];
    if (page.format === "csv") {
      const name = `${page.venue ?? page.category ?? "all"}-incidents-days-${page.days}`;
      return answerCsv(response, { file: "incidents_csv", values, name });
    }
    const snapshot = await snapshots("incidents", values, values);
    await answerJson(response, snapshot!);
  };
}
