import type { RequestHandler } from "express";
import type { Registry } from "../../shared/registry/registry.js";
import { answerJson, queryOf } from "./answer.js";
import type { Boards } from "./boards.js";
import { parameterReader, viewOf } from "./parameters.js";
import { Problem } from "./problem.js";
import { noSuchVenue } from "./venue.js";
import { presentIds } from "./venue-ids.js";

export function venueStateParameters(registry: Registry) {
  return {
    region: viewOf(
      registry,
      "As this region alone sees it: `state`, `since`, and those of the components. Absent: by quorum over all regions.",
    ),
  };
}

/** `/v1/targets/{venue}/state`, and the same bytes below `/v1/exchanges`: for programs that ask often. */
export function venueStateRoute(registry: Registry, boards: Boards): RequestHandler<{ venue: string }> {
  const read = parameterReader(venueStateParameters(registry));
  const ids = presentIds(registry);
  return async (request, response) => {
    const asked = request.params.venue;
    const venue = ids.get(asked);
    if (venue === undefined) throw noSuchVenue(asked, registry);
    const { region } = read(queryOf(request));
    const snapshot = await boards.state(venue, region);
    if (!snapshot) throw region === null ? noSuchVenue(venue) : noSuchView(venue, region);
    await answerJson(response, snapshot);
  };
}

/** The registry has both, but the database does not yet. */
export function noSuchView(venue: string, region: string): Problem {
  return new Problem(
    503,
    `The database does not have both venue ${venue} and region ${region} yet: venuewatch migrate adds them. Try again later.`,
  );
}
