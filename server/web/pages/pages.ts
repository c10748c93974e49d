/** The pages for people: rendered from the same snapshots as the API, complete without JavaScript. */
import { Router } from "express";
import { boardRoute } from "./board.js";
import { compareRoute } from "./compare.js";
import { detectionPageRoute } from "./detection.js";
import { docsRouter } from "./docs.js";
import { incidentPageRoute } from "./incident.js";
import { incidentsPageRoute } from "./incidents.js";
import { makeRendered, type PagesOptions } from "./page-answer.js";
import { regionsPageRoute } from "./regions.js";
import { transfersPageRoute } from "./transfers.js";
import { downRedirect, venuePageRoute } from "./venue.js";
import { wallRoute } from "./wall.js";

export function pagesRouter(options: PagesOptions): Router {
  const { registry, boards, windows, siteNotice = null } = options;
  const router = Router({ caseSensitive: true, strict: true });
  const rendered = makeRendered(siteNotice);
  router.get("/", boardRoute(options, rendered));
  router.get("/venues/:venue", venuePageRoute(options, rendered));
  router.get("/is-:venue-down", downRedirect(registry));
  router.get("/incidents", incidentsPageRoute(options, rendered));
  router.get("/incidents/:slug", incidentPageRoute(options, rendered));
  router.get("/compare", compareRoute(registry, windows, rendered));
  router.get("/detection", detectionPageRoute(windows, rendered));
  router.get("/transfers", transfersPageRoute(boards, rendered));
  router.get("/regions", regionsPageRoute(boards, rendered));
  router.get("/wall", wallRoute(boards, rendered));
  router.use(docsRouter(options));
  return router;
}
