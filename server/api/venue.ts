import type { RequestHandler } from "express";
import type { Registry } from "../../shared/registry/registry.js";
import { namedVenues, nearVenue } from "./near-venue.js";
import { presentIds } from "./venue-ids.js";
import { answerJson, queryOf } from "./answer.js";
import type { Boards } from "./boards.js";
import type { AnswerCsv } from "./csv.js";
import { choice, format, parameterReader, region } from "./parameters.js";
import { Problem, shortened } from "./problem.js";

export function venueParameters(registry: Registry) {
  return {
    range: choice(
      "Window of the latency chart and the tables: 24h in one-minute buckets, 7d in one-hour buckets.",
      ["24h", "7d"],
      "24h",
    ),
    region: region(registry),
    format,
  };
}

/** `/v1/exchanges/{venue}` and `/v1/targets/{venue}`: one venue in detail, the same bytes on both paths. */
export function venueRoute(
  registry: Registry,
  boards: Boards,
  answerCsv: AnswerCsv,
): RequestHandler<{ venue: string }> {
  const read = parameterReader(venueParameters(registry));
  const ids = presentIds(registry);

  return async (request, response) => {
    const asked = request.params.venue;
    // A former id gets the same response as the present one, so that programs that poll it keep working, whether or not
    // they follow redirects.
    const venue = ids.get(asked);
    if (venue === undefined) throw noSuchVenue(asked, registry);
    const { range, region, format } = read(queryOf(request));
    if (format === "csv")
      return answerCsv(response, {
        file: "venue_csv",
        values: [venue],
        name: `${venue}-days-90`,
        empty: () => noSuchVenue(venue),
      });
    const snapshot = await boards.venue(venue, range, region);
    if (!snapshot) throw noSuchVenue(venue);
    await answerJson(response, snapshot);
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
