/** Rules of the contract about CSV tables and /metrics. */
import { rulesOf } from "./rule.js";

export const rulesOfTablesAndMetrics = rulesOf({
  "api-csv: every row names its instant and its window": {
    "csv-columns": "each row carries generatedAt, the window, the measured part of it and methodologyUrl",
    "csv-disposition": "content-disposition makes a browser save the table",
  },
  "api-csv: spec: a venue's 90 days are those of its JSON": {
    "csv-venue-days": "a venue's table has a row for each of 90 days, with uptimePct empty where nothing was measured",
  },
  "api-csv: compared venues have the same rows as their JSON": {
    "csv-reliability": "the table of /v1/reliability has a row for each venue",
  },
  "api-csv: incidents have the same rows as their JSON, for each page and filter": {
    "csv-incidents": "the table of /v1/incidents has a row for each incident",
  },
  "api-csv: unknown venues and invalid parameters are problems": {
    "csv-format": "format is json or csv, by default json; xlsx is additive",
  },
  "comparing: spec: in the table of incidents the venue's own notice stands beside each, and subjectMatched false on every pairing":
    {
      "csv-incidents-notice": "the venue's own notice beside an incident, and subjectMatched false on every pairing",
    },
  "public-metrics: spec: 5 families of gauges, and 3 that say what they are of, in format 0.0.4": {
    // svc_generated_at_seconds, svc_decided_at_seconds and svc_latency_samples beside them are additive: a scrape must
    // be able to see how old it is, and of how many answers
    "metrics-families": "5 gauge families and no _sum or _count, in format 0.0.4",
    "metrics-percentile": "the label is percentile, not quantile",
  },
  "public-metrics: spec: before anything was measured: all of it, as 3": {
    "metrics-state": "every venue and component has a series on every scrape, 3 without evidence",
  },
  "public-metrics: an outage that two of three regions see": {
    "metrics-region": "states of each region, before the quorum is applied",
  },
  "public-metrics: latency is that of the newest complete minute": {
    "metrics-latency": "latency of the last complete minute, in seconds, REST only, absent where not measured",
  },
  "public-metrics: open incidents by their present severity": {
    "metrics-incident": "svc_incident_open says whether one of that severity is open; retracted ones are absent",
  },
  "public-metrics: a scrape counts for the rate limit": { "metrics-limited": "/metrics may answer 429" },
  "spec-answers: spec: after 5 minutes without the engine every state is unknown, and 3 in the metrics": {
    "metrics-silent": "every state is 3 after 5 minutes of silence",
  },
});
