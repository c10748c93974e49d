/**
 * The constants of published figures: each number once, with its unit and its reason. `/v1/thresholds` prints them
 * after the engine's rules; the SQL functions of the same names in schema api apply them.
 */
import type { Rule } from "../../shared/measurement/rule.js";

export const figureRules = [
  {
    name: "p50_min_answers",
    value: 3,
    unit: "samples",
    reason:
      "With fewer answers a single one decides what the median is: it is null, and the number of answers stands beside it.",
  },
  {
    name: "p95_min_answers",
    value: 10,
    unit: "samples",
    reason:
      "Of fewer than ten answers the 95th percentile is hardly more than the slowest one: it is null, and the number of answers stands beside it.",
  },
  {
    name: "uptime_min_coverage",
    value: 0.5,
    unit: "share",
    reason:
      "Where less than half of the scheduled minutes were measured, what nobody saw is more than what somebody did: there is no uptime, and its bounds say what is known.",
  },
] as const satisfies readonly Rule[];
