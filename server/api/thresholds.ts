import type { RequestHandler } from "express";
import { publicName, rules } from "../engine/rules.js";
import { version } from "../package.js";
import type { Registry } from "../registry.js";
import { answerJson, longCache } from "./answer.js";
import { makeBody } from "./body.js";
import type { thresholdsResponse } from "./schemas/service.js";
import type { TypeOf } from "./schemas/shapes.js";

/** `/v1/thresholds`: the engine's rules and the stall threshold of every stream, as this build has them. No database is asked. */
export function thresholdsRoute(registry: Registry): RequestHandler {
  const published: TypeOf<typeof thresholdsResponse> = {
    // the rules change with a deployment, and so does this instant
    generatedAt: new Date().toISOString(),
    version,
    rules: rules.map(({ name, value, unit, reason }) => ({
      name: publicName(name),
      value,
      unit,
      reason,
    })),
    stalls: registry.venues.flatMap((venue) =>
      (venue.socket?.streams ?? []).map((stream) => ({
        venue: venue.id,
        component: `ws:${stream.name}`,
        afterMs: stream.stall.afterMs,
        typicalPerMinute: stream.typicalPerMinute,
        rateBasis: stream.rateBasis,
        distribution: stream.stall.distribution,
      })),
    ),
  };
  const body = makeBody(JSON.stringify(published));
  return (_request, response) => answerJson(response, { body }, longCache);
}
