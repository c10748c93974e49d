/** Pages in the format of Statuspage, for clients that read such pages. */
import { type RequestHandler, Router } from "express";
import type { Registry } from "../../shared/registry/registry.js";
import { answerJson, longCache } from "../api/answer.js";
import { makeDerived } from "../api/derived.js";
import { statuspageDocuments, type StatuspageDocument } from "../api/schemas/statuspage.js";
import type { Snapshots } from "../api/snapshot.js";
import { noSuchVenue } from "../api/venue.js";
import { presentIds } from "../api/venue-ids.js";
import { dataOf } from "../pages/snapshot-data.js";
import { documentText } from "./documents.js";
import { statuspageData } from "./statuspage-data.js";

type Route = RequestHandler<{ venue?: string }>;

export interface StatuspageOptions {
  registry: Registry;
  baseUrl: string;
  snapshots: Snapshots;
}

const names = Object.keys(statuspageDocuments) as StatuspageDocument[];

/**
 * Clients ask once a minute or less often, and every change of a state or an incident makes a new page anyway: polls of
 * all pages must not load the embedded database at every tick.
 */
const heldMs = 30_000;

/** Room for all documents of thirty venues with fifty incidents. */
const mostBytes = 8_000_000;

/** The routes by path: each document of all venues, and of one. */
export function statuspageRoutes(options: StatuspageOptions): [path: string, route: Route][] {
  const make = routeMaker(options);
  return names.flatMap((name): [string, Route][] => [
    [`/statuspage/api/v2/${name}.json`, make(name)],
    [`/statuspage/:venue/api/v2/${name}.json`, make(name)],
  ]);
}

/** Clients that know only a host name look for these documents at its root. */
export function statuspageRedirects(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const name of names)
    router.get(`/api/v2/${name}.json`, (_request, response) => {
      response.setHeader("Cache-Control", longCache);
      response.redirect(301, `/statuspage/api/v2/${name}.json`);
    });
  return router;
}

function routeMaker({ registry, baseUrl, snapshots }: StatuspageOptions) {
  const ids = presentIds(registry);
  const derived = makeDerived(mostBytes);
  return (name: StatuspageDocument): Route =>
    async (request, response) => {
      const asked = request.params.venue;
      const venue = asked === undefined ? null : ids.get(asked);
      if (venue === undefined) throw noSuchVenue(asked!, registry);
      const snapshot = await snapshots("statuspage", [venue], [venue], heldMs);
      if (!snapshot) throw noSuchVenue(venue!);
      const body = derived(JSON.stringify([venue, name]), [snapshot], () =>
        documentText(name, dataOf(statuspageData, snapshot), { baseUrl, venue }),
      );
      await answerJson(response, { body });
    };
}
