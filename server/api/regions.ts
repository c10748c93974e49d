import type { RequestHandler } from "express";
import { answerJson } from "./answer.js";
import type { Boards } from "./boards.js";

/** `/v1/regions`: the fleet, as measured, and its quorum. */
export function regionsRoute(boards: Boards): RequestHandler {
  return async (_request, response) => {
    await answerJson(response, (await boards.regions())!);
  };
}
