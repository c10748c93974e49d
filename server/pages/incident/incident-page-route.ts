import type { RequestHandler } from "express";
import { cacheOf, incidentNamed } from "../../api/incident.js";
import { incidentDetailResponse } from "../../api/schemas/incident.js";
import { answerPage } from "../page-answer.js";
import type { PagesOptions } from "../pages-options.js";
import type { Rendered } from "../rendered.js";
import { dataOf } from "../snapshot-data.js";
import { incidentPage } from "./incident-page.js";

type Needs = Pick<PagesOptions, "pool" | "registry" | "incidents">;

/** `/incidents/{slug}`: the page to which alerts link. */
export function incidentPageRoute(
  { pool, registry, incidents }: Needs,
  rendered: Rendered,
): RequestHandler<{ slug: string }> {
  return async (request, response) => {
    const { slug } = request.params;
    const snapshot = await incidentNamed(pool, incidents, slug);
    const body = rendered(`incident ${slug}`, [snapshot], () =>
      incidentPage({ detail: dataOf(incidentDetailResponse, snapshot), registry }),
    );
    await answerPage(response, body, cacheOf(snapshot));
  };
}
