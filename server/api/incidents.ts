import type { RequestHandler } from "express";
import type { Registry } from "../../shared/registry/registry.js";
import { answerJson, queryOf } from "./answer.js";
import type { AnswerCsv } from "./csv.js";
import { category, choice, format, instant, integer, parameterReader, type Values, venueFilter } from "./parameters.js";
import { badParameters } from "./problem.js";
import type { Snapshot, Snapshots } from "./snapshot.js";

export function incidentsParameters(registry: Registry) {
  return {
    venue: venueFilter(registry),
    category,
    status: choice("Only open or only closed incidents, or all.", ["open", "closed", "all"], "all"),
    days: integer("Length of the window in UTC days, today included: incidents that started in it.", 1, 365, 90),
    limit: integer("Rows per page; a shorter page is the last one.", 1, 200, 50),
    before: instant(
      "Cursor: only incidents that started strictly before this instant. Several may have started at one instant: paging by `before` alone skips those that did not fit into a page. Paging with `beforeId` too skips none.",
    ),
    beforeId: integer(
      "The id of the last incident received, whose startedAt is `before`: includes incidents that started at that instant and have a smaller id.",
      1,
      Number.MAX_SAFE_INTEGER,
      null,
    ),
    format,
  };
}

/** `/v1/incidents`: history by pages, newest first. */
export function incidentsRoute(registry: Registry, snapshots: Snapshots, answerCsv: AnswerCsv): RequestHandler {
  const read = incidentsReader(registry);
  const usual = incidentsParameters(registry);
  return async (request, response) => {
    const page = read(queryOf(request));
    if (page.format === "csv") {
      return answerCsv(response, {
        file: "incidents_csv",
        values: valuesOf(page),
        name: fileNameOf(page, usual),
      });
    }
    await answerJson(response, await incidentsOf(page, snapshots));
  };
}

type Usual = ReturnType<typeof incidentsParameters>;

/** Which page of the history. */
export type IncidentsQuery = Values<Usual>;

/** @throws (the reader) Problem 400 that names every invalid parameter */
export function incidentsReader(registry: Registry): (query: URLSearchParams) => IncidentsQuery {
  const read = parameterReader(incidentsParameters(registry));
  return (query) => {
    const page = read(query);
    if (page.beforeId !== null && page.before === null)
      throw badParameters([
        {
          parameter: "beforeId",
          message: "expected together with before, whose ties it breaks; before is missing",
        },
      ]);
    return page;
  };
}

export async function incidentsOf(page: IncidentsQuery, snapshots: Snapshots): Promise<Snapshot> {
  const values = valuesOf(page);
  return (await snapshots("incidents", values, values))!;
}

function valuesOf({ venue, category, status, days, limit, before, beforeId }: IncidentsQuery) {
  return [venue, category, status, days, limit, before, beforeId];
}

/** Different pages and filters have different names; default values are left out. */
function fileNameOf({ venue, category, status, days, limit, before, beforeId }: IncidentsQuery, usual: Usual): string {
  return [
    venue ?? category ?? "all",
    "incidents",
    ...(status === usual.status.absent ? [] : [status]),
    `days-${days}`,
    ...(limit === usual.limit.absent ? [] : [`limit-${limit}`]),
    // Windows does not allow colons in file names
    ...(before === null ? [] : [`before-${before.replaceAll(":", "")}`]),
    ...(beforeId === null ? [] : [beforeId]),
  ].join("-");
}
