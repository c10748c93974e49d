import type { RequestHandler } from "express";
import { queryOf } from "../../api/answer.js";
import { incidentsOf, incidentsReader } from "../../api/incidents.js";
import { incidentsResponse } from "../../api/schemas/incident.js";
import { withoutEmpty } from "../board/board-route.js";
import { answerPage } from "../page-answer.js";
import type { PagesOptions } from "../pages-options.js";
import type { Rendered } from "../rendered.js";
import { dataOf } from "../snapshot-data.js";
import { incidentsPage } from "./incidents-page.js";

type Needs = Pick<PagesOptions, "registry" | "incidents">;

/** `/incidents`: the history by pages, with the parameters of `/v1/incidents`. */
export function incidentsPageRoute({ registry, incidents }: Needs, rendered: Rendered): RequestHandler {
  const read = incidentsReader(registry);
  return async (request, response) => {
    const query = read(withoutEmpty(queryOf(request)));
    const snapshot = await incidentsOf(query, incidents);
    const body = rendered(`incidents ${JSON.stringify(query)}`, [snapshot], () =>
      incidentsPage({ history: dataOf(incidentsResponse, snapshot), query, registry }),
    );
    await answerPage(response, body);
  };
}
