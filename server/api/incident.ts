import type { RequestHandler } from "express";
import { answerJson, longCache } from "./answer.js";
import type { Pool } from "../../shared/database/pool.js";
import { Problem, shortened } from "./problem.js";
import type { Snapshot, Snapshots } from "./snapshot.js";

/** Open incidents change; closed ones do not. */
export const incidentCache = { open: "public, max-age=5", closed: longCache };

/** Matches every slug that the engine generates. */
export const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*-\d{4}-\d\d-\d\d-(rest|ws)-(degraded|outage)(-\d{1,9})?$/;

/** `/v1/incidents/{slug}`: one incident with its evidence. */
export function incidentRoute(pool: Pick<Pool, "file">, snapshots: Snapshots): RequestHandler<{ slug: string }> {
  return async (request, response) => {
    const incident = await incidentNamed(pool, snapshots, request.params.slug);
    await answerJson(response, incident, cacheOf(incident));
  };
}

/**
 * The incident of this slug, as JSON.
 *
 * @throws Problem 404 which says whether it was retracted
 */
export async function incidentNamed(pool: Pick<Pool, "file">, snapshots: Snapshots, slug: string): Promise<Snapshot> {
  const known = slug.length < 200 && slugPattern.test(slug);
  const incident = known ? await snapshots("incident", [slug], [slug]) : null;
  if (!incident) throw (known && (await goneOf(pool, slug))) || noSuchIncident(slug);
  return incident;
}

export function cacheOf({ closed }: Snapshot): string {
  return incidentCache[closed ? "closed" : "open"];
}

function noSuchIncident(slug: string): Problem {
  return new Problem(404, `Unknown incident ${JSON.stringify(shortened(slug))}. /v1/incidents lists all incidents.`);
}

interface RetractedRow {
  retracted_at: string;
  reason: string;
}

/**
 * The problem for a retracted incident; null if no retracted incident has this slug. A retraction is final, so it may
 * be cached as long as a closed incident.
 */
async function goneOf(pool: Pick<Pool, "file">, slug: string): Promise<Problem | null> {
  const [row] = await pool.file<RetractedRow>("retracted", [slug]);
  if (!row) return null;
  const { retracted_at: retractedAt, reason } = row;
  return new Problem(404, `The incident ${slug} was retracted at ${retractedAt}: ${reason}`, {
    retracted: { slug, retractedAt, reason },
    cache: longCache,
  });
}
