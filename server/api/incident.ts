import type { RequestHandler } from "express";
import type { Pool } from "../db.js";
import { answerJson, longCache } from "./answer.js";
import { Problem, shortened } from "./problem.js";

/** The shape of every slug that the engine gives. */
const slugPattern =
  /^[a-z0-9]+(-[a-z0-9]+)*-\d{4}-\d\d-\d\d-(rest|ws)-(degraded|outage)(-\d{1,9})?$/;

interface IncidentRow {
  generated_at: Date;
  closed: boolean;
  body: string;
}

/** `/v1/incidents/{slug}`: one incident with its evidence. Open ones are news, closed ones do not change. */
export function incidentRoute(pool: Pool): RequestHandler<{ slug: string }> {
  return async (request, response) => {
    const { slug } = request.params;
    const [row] =
      slugPattern.test(slug) && slug.length < 200
        ? await pool.file<IncidentRow>("incident", [slug])
        : [];
    if (!row)
      throw new Problem(
        404,
        `There is no incident ${JSON.stringify(shortened(slug))}. /v1/incidents lists them.`,
      );
    const cache = row.closed ? longCache : "public, max-age=5";
    answerJson(response, row, cache);
  };
}
