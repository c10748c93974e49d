/** The pages for people: rendered from the same snapshots as the API, complete without JavaScript. */
import { Router } from "express";
import type { Boards } from "../api/boards.js";
import type { DatabaseClock } from "../api/clock.js";
import { boardRoute } from "./board/board-route.js";
import { makeRendered } from "./rendered.js";

export interface PagesOptions {
  boards: Boards;
  clock: DatabaseClock;
}

export function pagesRouter({ boards, clock }: PagesOptions): Router {
  const router = Router();
  const rendered = makeRendered(200);
  router.get("/", boardRoute(boards, clock, rendered));
  return router;
}
