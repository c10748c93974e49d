import type { RequestHandler } from "express";
import { answerJson, queryOf } from "./answer.js";
import type { Boards } from "./boards.js";
import { category, parameterReader } from "./parameters.js";

export const statusParameters = { category };

/** `/v1/status`: the live board. */
export function statusRoute(boards: Boards): RequestHandler {
  const read = parameterReader(statusParameters);
  return async (request, response) => {
    const { category } = read(queryOf(request));
    await answerJson(response, (await boards.status(category))!);
  };
}
