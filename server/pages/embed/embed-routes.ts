/** Routes for other sites to embed: badges, and the card of a venue. */
import type { RequestHandler } from "express";
import { answerBody, answerJson, dataCache, queryOf } from "../../api/answer.js";
import { badgeParameters } from "../../api/badge-parameters.js";
import { makeDerived } from "../../api/derived.js";
import { parameterReader } from "../../api/parameters.js";
import { badParameters } from "../../api/problem.js";
import { type shieldsBadge, shieldsCacheS } from "../../api/schemas/embed.js";
import type { TypeOf } from "../../api/schemas/shapes.js";
import { statusResponse } from "../../api/schemas/status.js";
import { venueStateResponse } from "../../api/schemas/venue-state.js";
import { noSuchVenue } from "../../api/venue.js";
import { noSuchView } from "../../api/venue-state.js";
import { presentIds } from "../../api/venue-ids.js";
import { embedPolicy } from "../page-answer.js";
import { ageText } from "../data-age.js";
import type { PagesOptions } from "../pages-options.js";
import { dataOf } from "../snapshot-data.js";
import { badgeColours, badgeText } from "./badge.js";
import { badgeContent, type Show } from "./badge-content.js";
import { cardText } from "./card.js";

export type EmbedOptions = Pick<PagesOptions, "registry" | "boards" | "siteNotice">;

type Route = RequestHandler<{ venue: string }>;

/** Room for six kilobytes of each of three hundred venues. */
const mostBytes = 2_000_000;

/** The routes by path. */
export function embedRoutes({ registry, boards, siteNotice = null }: EmbedOptions) {
  const ids = presentIds(registry);
  const derived = makeDerived(mostBytes);
  const readBadge = parameterReader(badgeParameters(registry));

  /** A venue's row on the board, how old the board is, and what both are made from. */
  async function rowOf(asked: string) {
    const id = ids.get(asked);
    if (id === undefined) throw noSuchVenue(asked, registry);
    const snapshot = (await boards.status(null))!;
    const board = dataOf(statusResponse, snapshot);
    const venue = board.venues.find((row) => row.id === id);
    if (venue === undefined) throw noSuchVenue(id);
    return { venue, age: ageText(board), now: board.generatedAt, snapshot };
  }

  /** The same for a badge, as one region sees the venue; null: as all of them do. */
  async function shownOf(asked: string, show: Show, region: string | null) {
    if (region === null) return rowOf(asked);
    if (show !== "state")
      throw badParameters([{ parameter: "region", message: `expected show=state beside it; got show=${show}` }]);
    const id = ids.get(asked);
    if (id === undefined) throw noSuchVenue(asked, registry);
    const snapshot = await boards.state(id, region);
    if (snapshot === null) throw noSuchView(id, region);
    const { components, ...seen } = dataOf(venueStateResponse, snapshot);
    const venue = { ...seen, components, seenFrom: region, uptimePct90d: null, typicalMs: null };
    return { venue, age: ageText(seen), snapshot };
  }

  const badge: Route = async (request, response) => {
    const { show, region } = readBadge(queryOf(request));
    const { venue, age, snapshot } = await shownOf(request.params.venue, show, region);
    const body = derived(JSON.stringify(["svg", venue.id, show, region]), [snapshot], () =>
      badgeText(badgeContent(show, venue, age)),
    );
    await answerBody(response, body, "image/svg+xml", dataCache);
  };

  const shields: Route = async (request, response) => {
    const { show, region } = readBadge(queryOf(request));
    const { venue, age, snapshot } = await shownOf(request.params.venue, show, region);
    const body = derived(JSON.stringify(["shields", venue.id, show, region]), [snapshot], () => {
      const { label, message, look } = badgeContent(show, venue, age);
      const color = look === "unknown" ? unknownColour : badgeColours[look];
      const badge: TypeOf<typeof shieldsBadge> = {
        ...{ schemaVersion: 1, label, message, color, cacheSeconds: shieldsCacheS },
      };
      return JSON.stringify(badge);
    });
    await answerJson(response, { body });
  };

  const card: Route = async (request, response) => {
    const { venue, age, now, snapshot } = await rowOf(request.params.venue);
    const body = derived(JSON.stringify(["card", venue.id]), [snapshot], () =>
      cardText({ venue, now, age, notice: siteNotice }),
    );
    response.setHeader("Content-Security-Policy", embedPolicy);
    await answerBody(response, body, "text/html; charset=utf-8", dataCache);
  };

  return { "/badges/:venue.svg": badge, "/badges/:venue.json": shields, "/embed/:venue": card };
}

/** shields.io writes in white, so that the hollow look is not possible there. */
const unknownColour = "#6a737d";
