import type { RequestHandler } from "express";
import { publicName, rules } from "../engine/rules.js";
import { version } from "../../shared/config/package.js";
import { probeRules } from "../../shared/measurement/probe-rules.js";
import { type Registry, stallBasis } from "../../shared/registry/registry.js";
import type { Rule } from "../../shared/measurement/rule.js";
import { answerJson, longCache } from "./answer.js";
import { makeBody } from "./body.js";
import { figureRules } from "./figure-rules.js";
import type { thresholdsResponse } from "./schemas/service.js";
import type { TypeOf } from "./schemas/shapes.js";

/** Every constant that affects published data: the engine's rules first, then those of probes and of figures. */
export const publishedRules = [
  ...appliedBy("engine", rules),
  ...appliedBy("probe", probeRules),
  ...appliedBy("figures", figureRules),
];

function appliedBy<By extends string>(by: By, some: readonly Rule[]) {
  return some.map((rule) => ({ ...rule, appliedBy: by }));
}

/** `/v1/thresholds`: these rules and every stream's stall threshold in this build. Does not use the database. */
export function thresholdsRoute(registry: Registry): RequestHandler {
  const published: TypeOf<typeof thresholdsResponse> = {
    // rules change only with a deployment, so this instant does too
    generatedAt: new Date().toISOString(),
    version,
    rules: publishedRules.map(({ name, value, unit, reason, appliedBy }) => ({
      name: publicName(name),
      value,
      unit,
      reason,
      appliedBy,
    })),
    stalls: registry.venues.flatMap((venue) =>
      (venue.socket?.streams ?? []).map((stream) => ({
        venue: venue.id,
        component: `ws:${stream.name}`,
        afterMs: stream.stall.afterMs,
        typicalPerMinute: stream.typicalPerMinute,
        rateBasis: stream.rateBasis,
        basis: stallBasis(stream),
        counterpart: stream.counterpart ? `rest:${stream.counterpart}` : null,
        distribution: stream.stall.distribution,
      })),
    ),
  };
  const body = makeBody(JSON.stringify(published));
  return (_request, response) => answerJson(response, { body }, longCache);
}
