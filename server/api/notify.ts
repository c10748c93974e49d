import type { RequestHandler } from "express";
import { answerJson } from "./answer.js";
import type { Boards } from "./boards.js";

/** `/v1/notify`: how soon alerts arrive. */
export function notifyRoute(boards: Boards): RequestHandler {
  return async (_request, response) => {
    await answerJson(response, (await boards.notify())!);
  };
}
