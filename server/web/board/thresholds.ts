/** The rules that this build applies, and the stall threshold of each stream. */
import type { RequestHandler } from "express";
import { version } from "../../../shared/config/package.js";
import { type Registry, stallBasis } from "../../../shared/registry/registry.js";
import { publicName, engineRules } from "../../../shared/rules/engine-rules.js";
import { probeRules, type Rule, ruleUnits } from "../../../shared/rules/probe-rules.js";
import { answerJson, longCache } from "../api/answer.js";
import { makeBody } from "../api/body.js";
import {
  type TypeOf,
  day,
  generatedAt,
  integer,
  list,
  named,
  number,
  object,
  oneOf,
  orNull,
  text,
  venueId,
} from "../api/shapes.js";
import { stallBasisShape } from "./component.js";

/** `/v1/thresholds`. Does not use the database. */
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

/** The constants of published figures; the SQL functions of the same names in schema api apply them. */
export const figureRules = [
  {
    name: "p50_min_answers",
    value: 3,
    unit: "samples",
    reason:
      "With fewer responses a single one decides the median: it is null, and the number of responses is given with it.",
  },
  {
    name: "p95_min_answers",
    value: 10,
    unit: "samples",
    reason:
      "With fewer than ten responses the 95th percentile is practically the slowest one: it is null, and the number of responses is given with it.",
  },
  {
    name: "uptime_min_coverage",
    value: 0.5,
    unit: "share",
    reason:
      "When less than half of the scheduled minutes were measured, most of the time is unknown: uptime is null, and its bounds say what is known.",
  },
] as const satisfies readonly Rule[];

/** Every constant that affects published data: the engine's rules first, then those of probes and of figures. */
export const publishedRules = [
  ...appliedBy("engine", engineRules),
  ...appliedBy("probe", probeRules),
  ...appliedBy("figures", figureRules),
];

function appliedBy<By extends string>(by: By, some: readonly Rule[]) {
  return some.map((rule) => ({ ...rule, appliedBy: by }));
}

export const thresholdsResponse = named(
  "ThresholdsResponse",
  object("The rules of this build.", {
    generatedAt,
    version: text("Build of the engine.", "0.8.0"),
    rules: list(
      "Every constant of the engine, then those of probes and of published figures.",
      named(
        "PublishedRule",
        object("One rule.", {
          name: text("Name; the rulebook explains it.", "recoveryHoldMs"),
          value: number("Value.", 60_000),
          unit: oneOf(
            ruleUnits,
            "Its unit. share is a fraction of 1; times is a multiple of the usual value; cadences are those of the judged component.",
          ),
          reason: text("The reason for the value.", "Twice the time that most restarts take."),
          appliedBy: oneOf(
            ["engine", "probe", "figures"],
            "Where it applies: the engine's decisions, a probe's judgement of a slot, or published figures. Only the engine's can be changed in a replay.",
          ),
        }),
      ),
    ),
    stalls: list(
      "One per stream.",
      named(
        "StallThreshold",
        object("Stall threshold of one stream.", {
          venue: venueId,
          component: text("ws:<name>.", "ws:trades"),
          afterMs: integer("Silence beyond this is a stall.", 30_000, 1),
          typicalPerMinute: number("Usual data frames a minute.", 240),
          rateBasis: oneOf(["documented", "probed", "estimate"], "The source of typicalPerMinute."),
          basis: stallBasisShape,
          counterpart: orNull(
            text(
              "The REST endpoint that shows whether a silent stream should have sent something; null if there is none.",
              "rest:trades",
            ),
          ),
          distribution: orNull(
            object("The measured quiet periods that it is based on; null while it is computed from the usual rate.", {
              periods: integer("Periods measured.", 120_960),
              from: day("First day."),
              to: day("Last day."),
              p50Ms: integer("Median.", 180),
              p99Ms: integer("99th percentile.", 9_200),
              p999Ms: integer("99.9th percentile.", 14_800),
            }),
          ),
        }),
      ),
    ),
  }),
);
