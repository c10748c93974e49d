/** The pages for people: rendered from the same snapshots as the API, complete without JavaScript. */
import { Router } from "express";
import type { Boards } from "../api/boards.js";
import type { DatabaseClock } from "../api/clock.js";
import type { Windows } from "../api/windows.js";
import { boardRoute } from "./board/board-route.js";
import { compareRoute } from "./compare/compare-route.js";
import { detectionPageRoute } from "./detection/detection-page-route.js";
import { regionsPageRoute } from "./regions/regions-page-route.js";
import { makeRendered } from "./rendered.js";
import { wallRoute } from "./wall/wall-route.js";

export interface PagesOptions {
  boards: Boards;
  windows: Windows;
  clock: DatabaseClock;
}

export function pagesRouter({ boards, windows, clock }: PagesOptions): Router {
  const router = Router();
  const rendered = makeRendered(200);
  router.get("/", boardRoute(boards, clock, rendered));
  router.get("/compare", compareRoute(windows, clock, rendered));
  router.get("/detection", detectionPageRoute(windows, clock, rendered));
  router.get("/regions", regionsPageRoute(boards, clock, rendered));
  router.get("/wall", wallRoute(boards, clock, rendered));
  return router;
}
