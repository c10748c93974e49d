import type { RequestHandler } from "express";
import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { longCache, queryOf } from "../../api/answer.js";
import { parameterReader } from "../../api/parameters.js";
import { exchangeResponse } from "../../api/schemas/venue.js";
import { noSuchVenue, venueParameters } from "../../api/venue.js";
import { presentIds } from "../../api/venue-ids.js";
import { withoutEmpty } from "../board/board-route.js";
import { answerPage } from "../page-answer.js";
import type { PagesOptions } from "../pages-options.js";
import type { Rendered } from "../rendered.js";
import { dataOf } from "../snapshot-data.js";
import { venueMatrix } from "./matrix.js";
import { venuePage } from "./venue-page.js";

type VenueRoute = RequestHandler<{ venue: string }>;

/** `/venues/{venue}`. The page of a former id has moved to that of the present one. */
export function venuePageRoute({ registry, boards }: PagesOptions, rendered: Rendered): VenueRoute {
  const { range, region } = venueParameters(registry);
  const read = parameterReader({ range, region });
  const ids = presentIds(registry);
  const configs = new Map(watchedVenues(registry).map((venue) => [venue.id, venue]));

  return async (request, response) => {
    const asked = request.params.venue;
    const venue = ids.get(asked);
    if (venue === undefined) throw noSuchVenue(asked, registry);
    const query = withoutEmpty(queryOf(request));
    if (venue !== asked) {
      response.setHeader("Cache-Control", longCache);
      return response.redirect(301, [`/venues/${venue}`, query.toString()].filter((part) => part !== "").join("?"));
    }
    const view = { venue, ...read(query) };
    const [detail, matrix] = await Promise.all([boards.venue(venue, view.range, view.region), boards.matrix(venue)]);
    if (!detail || !matrix) throw noSuchVenue(venue);
    const body = rendered(`venue ${JSON.stringify(view)}`, [detail, matrix], () =>
      venuePage({
        ...{ view, config: configs.get(venue)! },
        detail: dataOf(exchangeResponse, detail),
        matrix: dataOf(venueMatrix, matrix),
      }),
    );
    await answerPage(response, body);
  };
}

/** `/is-{venue}-down`, which people type and search for. */
export function downRedirect(registry: Registry): VenueRoute {
  const ids = presentIds(registry);
  return (request, response) => {
    const venue = ids.get(request.params.venue);
    if (venue === undefined) throw noSuchVenue(request.params.venue, registry);
    response.setHeader("Cache-Control", longCache);
    response.redirect(301, `/venues/${venue}`);
  };
}
