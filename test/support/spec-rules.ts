/** The rules of the API's contract, each with the test that holds it, by area of the contract. */
import { rulesOfAlerts } from "./spec-rules/alerts.js";
import { rulesOfEveryAnswer } from "./spec-rules/every-answer.js";
import { rulesOfFleet } from "./spec-rules/fleet.js";
import { rulesOfIncidents } from "./spec-rules/incidents.js";
import type { Rule } from "./spec-rules/rule.js";
import { rulesOfTablesAndMetrics } from "./spec-rules/tables-and-metrics.js";
import { rulesOfVenues } from "./spec-rules/venues.js";

export const rules: Rule[] = [
  ...rulesOfEveryAnswer,
  ...rulesOfVenues,
  ...rulesOfFleet,
  ...rulesOfIncidents,
  ...rulesOfAlerts,
  ...rulesOfTablesAndMetrics,
];
