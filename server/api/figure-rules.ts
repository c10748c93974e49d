/**
 * The constants of published figures, each with its unit and reason. `/v1/thresholds` prints them after the engine's
 * rules; the SQL functions of the same names in schema api apply them.
 */
import type { Rule } from "../../shared/measurement/rule.js";

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
