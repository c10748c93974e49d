/** Rules of the contract about the board, one venue and their states. */
import { rulesOf } from "./rule.js";

export const rulesOfVenues = rulesOf({
  "spec-answers: spec: fields of /v1/status": { "status-fields": "fields of StatusResponse" },
  "spec-answers: spec: an Incident has no category, and a board row no percentiles of components": {
    "status-no-percentiles": "no percentiles of components on the board",
  },
  "spec-answers: spec: fields of /v1/targets/{venue}": { "venue-fields": "fields of ExchangeResponse" },
  "api-board: a category filters rows and fleet numbers, but not the counts of categories": {
    "status-category": "category narrows rows and fleet numbers together, not summary.categories",
  },
  "api-board: spec: 90 days, always: one that nobody measured is null, not 0 and not missing": {
    "status-days": "each row has 90 days",
    "venue-days": "90 days, combined over the regions",
  },
  "api-board: spec: a sparkline has 24 points, an hour apart": {
    "status-sparkline": "each row has 24 points of latency",
  },
  "api-board: both paths of a venue have the same bytes, while samples arrive": {
    "venue-two-paths": "both paths answer the same bytes",
  },
  "api-board: a chart has every bucket of its range": { "venue-chart": "the chart has every bucket of the range" },
  "api-board: a region selects latency, endpoints and streams, and nothing else": {
    "venue-region": "region selects chart, endpoints and streams, and not state, days or uptime",
  },
  "api-board: percentiles are exact over raw samples": {
    "venue-exact": "percentiles of chart and endpoints are exact over raw samples",
  },
  "api-parameters: an invalid value is 400, and its parameter is named": {
    "status-400": "a category that is not allowed is 400",
    "venue-400": "range or region that is not allowed is 400",
  },
  "api-parameters: an unknown path is 404, and an invalid one 400": {
    "venue-404": "a venue that is not in the registry is 404",
  },
  "spec-answers: spec: range is 24h by minutes or 7d by hours": { "venue-range": "range: 24h by minutes, 7d by hours" },
  "spec-answers: spec: windows are 90 days by default, limit 50, status all, range 24h, region the primary": {
    "venue-defaults": "24h and the primary region by default",
  },
  "spec-answers: spec: each endpoint and stream has the cadence of the registry": {
    "venue-cadence": "each endpoint has its resolved cadence",
  },
  "spec-answers: spec: after 5 minutes without the engine every state is unknown, and 3 in the metrics": {
    "state-silent": "no engine output for 5 minutes: every state is unknown",
  },
  "api-incidents: spec: a venue's page has the 50 most recent incidents, newest first": {
    "venue-50": "the 50 most recent incidents",
    "venue-newest": "incidents are listed newest first",
  },
  "api-incidents: every incident of the window is counted once": {
    "venue-patterns": "patterns cover the whole window and link every incident in it",
  },
  "reliability: spec: summary on the venue detail is the row of /v1/reliability": {
    "venue-summary": "summary is the object that /v1/reliability carries",
  },
  "api-states: lag compares with the freshest head of the same region": {
    "venue-lag": "lag exists only for chain readers, per region, against our own freshest head",
    "venue-no-symbol": "symbol and quote are null where no instrument is traded",
  },
  "api-states: before anything was measured": { "state-no-evidence": "a component without evidence is unknown" },
  "api-states: when one region alone sees everything bad": {
    "state-one-region": "one region failing alone does not make a venue down",
  },
  "engine-scenarios: the engine decides states as each scenario says": {
    "state-majority": "a simple majority of the reporting regions makes a venue down",
  },
});
