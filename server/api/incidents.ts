import type { RequestHandler } from "express";
import type { Registry } from "../../shared/registry/registry.js";
import { answerJson, queryOf } from "./answer.js";
import { category, choice, instant, integer, parameterReader, type Values, venueFilter } from "./parameters.js";
import type { BadParameter } from "./problem.js";
import { incidentsTable } from "./schemas/tables.js";
import type { Snapshot, Snapshots } from "./snapshot.js";
import { formReader, type TableFormat } from "./table-form.js";
import type { AnswerTable } from "./tables.js";

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
  };
}

/** `/v1/incidents`: history by pages, newest first; with an ending, as a table. */
export function incidentsRoute(
  registry: Registry,
  snapshots: Snapshots,
  answerTable: AnswerTable,
  ending: TableFormat | null = null,
): RequestHandler {
  const usual = incidentsParameters(registry);
  const read = formReader(usual, ending, tiesWithoutCursor);
  return async (request, response) => {
    const { format, decimal, ...page } = read(queryOf(request));
    if (format === "json") return answerJson(response, await incidentsOf(page, snapshots));
    const name = fileNameOf(page, usual);
    const table = { file: "incidents_csv", values: valuesOf(page), schema: incidentsTable, name };
    await answerTable(response, { format, decimal }, table);
  };
}

type Usual = ReturnType<typeof incidentsParameters>;

/** Which page of the history. */
export type IncidentsQuery = Values<Usual>;

/** @throws (the reader) Problem 400 that names every invalid parameter */
export function incidentsReader(registry: Registry): (query: URLSearchParams) => IncidentsQuery {
  return parameterReader(incidentsParameters(registry), tiesWithoutCursor);
}

function tiesWithoutCursor({ before, beforeId }: IncidentsQuery): BadParameter[] {
  if (beforeId === null || before !== null) return [];
  return [{ parameter: "beforeId", message: "expected together with before, whose ties it breaks; before is missing" }];
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
