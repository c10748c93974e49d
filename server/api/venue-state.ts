import type { RequestHandler } from "express";
import type { Registry } from "../../shared/registry/registry.js";
import { answerJson, queryOf } from "./answer.js";
import type { Boards } from "./boards.js";
import { parameterReader, viewOf } from "./parameters.js";
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
    const snapshot = await boards.state(venue, read(queryOf(request)).region);
    if (!snapshot) throw noSuchVenue(venue);
    await answerJson(response, snapshot);
  };
}
