import type { RequestHandler } from "express";
import type { Registry } from "../../shared/registry/registry.js";
import { answerJson } from "./answer.js";
import type { Boards } from "./boards.js";
import { noSuchVenue } from "./venue.js";
import { presentIds } from "./venue-ids.js";

/** `/v1/targets/{venue}/state`, and the same bytes below `/v1/exchanges`: for programs that ask often. */
export function venueStateRoute(registry: Registry, boards: Boards): RequestHandler<{ venue: string }> {
  const ids = presentIds(registry);
  return async (request, response) => {
    const asked = request.params.venue;
    const venue = ids.get(asked);
    if (venue === undefined) throw noSuchVenue(asked, registry);
    const snapshot = await boards.state(venue);
    if (!snapshot) throw noSuchVenue(venue);
    await answerJson(response, snapshot);
  };
}
