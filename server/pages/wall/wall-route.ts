import type { RequestHandler } from "express";
import { queryOf } from "../../api/answer.js";
import type { Boards } from "../../api/boards.js";
import { choice, parameterReader } from "../../api/parameters.js";
import { regionsResponse } from "../../api/schemas/service.js";
import { statusResponse } from "../../api/schemas/status.js";
import { withoutEmpty } from "../board/board-route.js";
import { boardParameters } from "../board/filter.js";
import { answerPage } from "../page-answer.js";
import type { Rendered } from "../rendered.js";
import { dataOf } from "../snapshot-data.js";
import { wallPage } from "./wall-page.js";

/** As the board's, but trouble comes first unless the address says otherwise. */
const wallParameters = {
  ...boardParameters,
  sort: choice(boardParameters.sort.description, ["category", "worst"], "worst"),
};

export function wallRoute(boards: Boards, rendered: Rendered): RequestHandler {
  const read = parameterReader(wallParameters);
  return async (request, response) => {
    const filter = read(withoutEmpty(queryOf(request)));
    const [status, regions] = await Promise.all([boards.status(filter.category), boards.regions()]);
    const body = rendered(`wall ${JSON.stringify(filter)}`, [status, regions], () =>
      wallPage({ board: dataOf(statusResponse, status!), regions: dataOf(regionsResponse, regions!), filter }),
    );
    await answerPage(response, body);
  };
}
