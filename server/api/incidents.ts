import type { RequestHandler } from "express";
import type { Registry } from "../../shared/registry/registry.js";
import { answerJson, queryOf } from "./answer.js";
import type { AnswerCsv } from "./csv.js";
import { category, choice, format, instant, integer, parameterReader, type Values, venueFilter } from "./parameters.js";
import { badParameters } from "./problem.js";
import type { Snapshots } from "./snapshot.js";

export function incidentsParameters(registry: Registry) {
  return {
    venue: venueFilter(registry),
    category,
    status: choice("Open or closed ones only, or all.", ["open", "closed", "all"], "all"),
    days: integer("Length of the window in UTC days, today included: incidents that started in it.", 1, 365, 90),
    limit: integer("Rows a page; a shorter page is the last one.", 1, 200, 50),
    before: instant(
      "Cursor: only incidents that started strictly before this instant. Several may have started at one instant: a walk by `before` alone loses those of them that did not fit into a page. Give `beforeId` with it, and none is lost.",
    ),
    beforeId: integer(
      "The id of the last incident received, whose startedAt is `before`: those that started at that instant and have a smaller id are not left out.",
      1,
      Number.MAX_SAFE_INTEGER,
      null,
    ),
    format,
  };
}

/** `/v1/incidents`: history by pages, newest first. */
export function incidentsRoute(registry: Registry, snapshots: Snapshots, answerCsv: AnswerCsv): RequestHandler {
  const parameters = incidentsParameters(registry);
  const read = parameterReader(parameters);
  return async (request, response) => {
    const page = read(queryOf(request));
    if (page.beforeId !== null && page.before === null)
      throw badParameters([
        {
          parameter: "beforeId",
          message: "expected together with before, whose ties it breaks; got it alone",
        },
      ]);
    const values = [page.venue, page.category, page.status, page.days, page.limit, page.before, page.beforeId];
    if (page.format === "csv") {
      return answerCsv(response, {
        file: "incidents_csv",
        values,
        name: fileNameOf(page, parameters),
      });
    }
    const snapshot = await snapshots("incidents", values, values);
    await answerJson(response, snapshot!);
  };
}

type Usual = ReturnType<typeof incidentsParameters>;

/** Of two pages or filters neither overwrites the other; what is by default is left out. */
function fileNameOf({ venue, category, status, days, limit, before, beforeId }: Values<Usual>, usual: Usual): string {
  return [
    venue ?? category ?? "all",
    "incidents",
    ...(status === usual.status.absent ? [] : [status]),
    `days-${days}`,
    ...(limit === usual.limit.absent ? [] : [`limit-${limit}`]),
    // no file of Windows may have a colon in its name
    ...(before === null ? [] : [`before-${before.replaceAll(":", "")}`]),
    ...(beforeId === null ? [] : [beforeId]),
  ].join("-");
}
