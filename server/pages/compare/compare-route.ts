import type { RequestHandler } from "express";
import { queryOf } from "../../api/answer.js";
import { parameterReader } from "../../api/parameters.js";
import { reliabilityParameters } from "../../api/reliability.js";
import { reliabilityResponse } from "../../api/schemas/reliability.js";
import type { Windows } from "../../api/windows.js";
import { withoutEmpty } from "../board/board-route.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { answerPage } from "../page-answer.js";
import type { Rendered } from "../rendered.js";
import { dataOf } from "../snapshot-data.js";
import { comparePage } from "./compare-page.js";

export function compareRoute(registry: Registry, windows: Windows, rendered: Rendered): RequestHandler {
  const { days, category } = reliabilityParameters;
  const regionNames = new Map(registry.regions.map(({ id, name }) => [id, name]));
  const read = parameterReader({ days, category });
  return async (request, response) => {
    const { days, category } = read(withoutEmpty(queryOf(request)));
    const snapshot = await windows.reliability(days, category);
    const body = rendered(`compare ${days} ${category}`, [snapshot], () =>
      comparePage({ reliability: dataOf(reliabilityResponse, snapshot), regionNames, category }),
    );
    await answerPage(response, body);
  };
}
