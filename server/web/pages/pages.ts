/** The pages for people: rendered from the same snapshots as the API, complete without JavaScript. */
import { Router } from "express";
import { boardRoute } from "./board.js";
import { compareRoute } from "./compare.js";
import { detectionPageRoute } from "./detection.js";
import { docsRouter } from "./docs.js";
import { languageSwitch } from "./edition.js";
import { incidentPageRoute } from "./incident.js";
import { incidentsPageRoute } from "./incidents.js";
import { makeRendered, type PagesOptions } from "./page-answer.js";
import { shellOf } from "./page.js";
import { regionsPageRoute } from "./regions.js";
import { faviconRoute, robotsRoute } from "./site-files.js";
import { transfersPageRoute } from "./transfers.js";
import { downRedirect, shortRedirect, venuePageRoute } from "./venue.js";
import { wallRoute } from "./wall.js";

export function pagesRouter(options: PagesOptions): Router {
  const { registry, boards, windows } = options;
  const router = Router({ caseSensitive: true, strict: true });
  const rendered = makeRendered(shellOf(options));
  router.use(languageSwitch);
  router.get("/", boardRoute(options, rendered));
  router.get("/venues/:venue", venuePageRoute(options, rendered));
  router.get("/is-:venue-down", downRedirect(registry));
  router.get("/incidents", incidentsPageRoute(options, rendered));
  router.get("/incidents/:slug", incidentPageRoute(options, rendered));
  router.get("/compare", compareRoute(registry, windows, rendered));
  router.get("/detection", detectionPageRoute(windows, rendered));
  router.get("/transfers", transfersPageRoute(boards, rendered));
  router.get("/regions", regionsPageRoute(boards, rendered));
  router.get("/wall", wallRoute(registry, boards, rendered));
  router.get("/favicon.ico", faviconRoute);
  router.get("/robots.txt", robotsRoute);
  router.use(docsRouter(options));
  // last: no venue's name hides a page
  router.use(shortRedirect(registry));
  return router;
}
