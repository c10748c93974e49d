import type { RequestHandler } from "express";
import { queryOf } from "../../api/answer.js";
import type { Boards } from "../../api/boards.js";
import { parameterReader } from "../../api/parameters.js";
import { regionsResponse } from "../../api/schemas/service.js";
import { statusResponse } from "../../api/schemas/status.js";
import { answerPage } from "../page-answer.js";
import type { Rendered } from "../rendered.js";
import { dataOf } from "../snapshot-data.js";
import { boardPage } from "./board-page.js";
import { boardParameters } from "./filter.js";

export function boardRoute(boards: Boards, rendered: Rendered): RequestHandler {
  const read = parameterReader(boardParameters);
  return async (request, response) => {
    const filter = read(withoutEmpty(queryOf(request)));
    const [status, regions] = await Promise.all([boards.status(filter.category), boards.regions()]);
    const body = rendered(`board ${JSON.stringify(filter)}`, [status, regions], () =>
      boardPage({ board: dataOf(statusResponse, status!), regions: dataOf(regionsResponse, regions!), filter }),
    );
    await answerPage(response, body);
  };
}

/** A form sends its empty fields too. */
export function withoutEmpty(query: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...query].filter(([, value]) => value !== ""));
}
