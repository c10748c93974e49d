/** The pages for people: rendered from the same snapshots as the API, complete without JavaScript. */
import { Router } from "express";
import { boardRoute } from "./board/board-route.js";
import { compareRoute } from "./compare/compare-route.js";
import { detectionPageRoute } from "./detection/detection-page-route.js";
import { docsRouter } from "./docs/docs-routes.js";
import { incidentPageRoute } from "./incident/incident-page-route.js";
import { incidentsPageRoute } from "./incidents/incidents-page-route.js";
import { regionsPageRoute } from "./regions/regions-page-route.js";
import type { PagesOptions } from "./pages-options.js";
import { makeRendered } from "./rendered.js";
import { wallRoute } from "./wall/wall-route.js";
import { downRedirect, venuePageRoute } from "./venue/venue-page-route.js";

export function pagesRouter(options: PagesOptions): Router {
  const { registry, boards, windows, siteNotice = null } = options;
  const router = Router({ caseSensitive: true, strict: true });
  const rendered = makeRendered(siteNotice);
  router.get("/", boardRoute(boards, rendered));
  router.get("/venues/:venue", venuePageRoute(options, rendered));
  router.get("/is-:venue-down", downRedirect(registry));
  router.get("/incidents", incidentsPageRoute(options, rendered));
  router.get("/incidents/:slug", incidentPageRoute(options, rendered));
  router.get("/compare", compareRoute(registry, windows, rendered));
  router.get("/detection", detectionPageRoute(windows, rendered));
  router.get("/regions", regionsPageRoute(boards, rendered));
  router.get("/wall", wallRoute(boards, rendered));
  router.use(docsRouter(options));
  return router;
}
