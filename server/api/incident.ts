import type { RequestHandler } from "express";
import { answerJson, longCache } from "./answer.js";
import { Problem, shortened } from "./problem.js";
import type { Snapshots } from "./snapshot.js";

/** Open ones are news, closed ones do not change. */
export const incidentCache = { open: "public, max-age=5", closed: longCache };

/** The shape of every slug that the engine gives. */
export const slugPattern =
  /^[a-z0-9]+(-[a-z0-9]+)*-\d{4}-\d\d-\d\d-(rest|ws)-(degraded|outage)(-\d{1,9})?$/;

/** `/v1/incidents/{slug}`: one incident with its evidence. */
export function incidentRoute(
  snapshots: Snapshots,
): RequestHandler<{ slug: string }> {
  return async (request, response) => {
    const { slug } = request.params;
    const known = slug.length < 200 && slugPattern.test(slug);
    const incident = known ? await snapshots("incident", [slug], [slug]) : null;
    if (!incident)
      throw new Problem(
        404,
        `There is no incident ${JSON.stringify(shortened(slug))}. /v1/incidents lists them.`,
      );
    const cache = incidentCache[incident.closed ? "closed" : "open"];
    await answerJson(response, incident, cache);
  };
}
