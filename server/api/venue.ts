import type { RequestHandler } from "express";
import type { Registry } from "../../shared/registry/registry.js";
import { namedVenues, nearVenue } from "./near-venue.js";
import { presentIds } from "./venue-ids.js";
import { answerJson, queryOf } from "./answer.js";
import type { Boards } from "./boards.js";
import { choice, region } from "./parameters.js";
import { Problem, shortened } from "./problem.js";
import { venueTable } from "./schemas/tables.js";
import { formReader, type TableFormat } from "./table-form.js";
import type { AnswerTable, Table } from "./tables.js";

export function venueParameters(registry: Registry) {
  return {
    range: choice(
      "Window of the latency chart and the tables: 24h in one-minute buckets, 7d in one-hour buckets.",
      ["24h", "7d"],
      "24h",
    ),
    region: region(registry),
  };
}

/** `/v1/exchanges/{venue}` and `/v1/targets/{venue}`: one venue in detail, the same bytes on both paths. */
export function venueRoute(
  registry: Registry,
  boards: Boards,
  answerTable: AnswerTable,
): RequestHandler<{ venue: string }> {
  const read = formReader(venueParameters(registry), null);
  const venueOf = venueFinder(registry);

  return async (request, response) => {
    const venue = venueOf(request.params.venue);
    const { range, region, format, decimal } = read(queryOf(request));
    if (format !== "json") return answerTable(response, { format, decimal }, daysOf(venue));
    const snapshot = await boards.venue(venue, range, region);
    if (!snapshot) throw noSuchVenue(venue);
    await answerJson(response, snapshot);
  };
}

/** `/v1/targets/{venue}/days.csv` and `.xlsx`: the venue's days as a table. */
export function venueDaysRoute(
  registry: Registry,
  answerTable: AnswerTable,
  ending: TableFormat,
): RequestHandler<{ venue: string }> {
  const read = formReader({}, ending);
  const venueOf = venueFinder(registry);

  return async (request, response) => {
    const venue = venueOf(request.params.venue);
    const { decimal } = read(queryOf(request));
    await answerTable(response, { format: ending, decimal }, daysOf(venue));
  };
}

function daysOf(venue: string): Table {
  return {
    ...{ file: "venue_csv", values: [venue], schema: venueTable, name: `${venue}-days-90` },
    empty: () => noSuchVenue(venue),
  };
}

/**
 * Returns the present id for a former one, whose answers are the same, so that programs that poll it keep working,
 * whether or not they follow redirects.
 */
function venueFinder(registry: Registry): (asked: string) => string {
  const ids = presentIds(registry);
  return (asked) => {
    const venue = ids.get(asked);
    if (venue === undefined) throw noSuchVenue(asked, registry);
    return venue;
  };
}

/** @param registry absent: it has the venue, only the database does not */
export function noSuchVenue(venue: string, registry?: Registry): Problem {
  const near = registry ? nearVenue(shortened(venue), namedVenues(registry)) : null;
  const meant = near === null ? "" : ` Did you mean ${near.id}?`;
  return new Problem(
    404,
    `Unknown venue ${JSON.stringify(shortened(venue))}.${meant} /v1/status lists all watched venues.`,
  );
}
