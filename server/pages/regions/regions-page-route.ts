import type { RequestHandler } from "express";
import type { Boards } from "../../api/boards.js";
import { regionsResponse } from "../../api/schemas/service.js";
import { statusResponse } from "../../api/schemas/status.js";
import { answerPage } from "../page-answer.js";
import type { Rendered } from "../rendered.js";
import { dataOf } from "../snapshot-data.js";
import { regionsPage } from "./regions-page.js";

export function regionsPageRoute(boards: Boards, rendered: Rendered): RequestHandler {
  return async (_request, response) => {
    // the board knows the names of venues
    const [snapshot, board] = await Promise.all([boards.regions(), boards.status(null)]);
    const body = rendered("regions", [snapshot, board], () => {
      const { venues } = dataOf(statusResponse, board!);
      const names = new Map(venues.map(({ id, name }) => [id, name]));
      return regionsPage({ regions: dataOf(regionsResponse, snapshot!), names });
    });
    await answerPage(response, body);
  };
}
