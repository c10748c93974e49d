/** Rules of the contract about the board, one venue and their states. */
import { type Rule, rule } from "./rule.js";

export const rulesOfVenues: Rule[] = [
  // the board
  rule("status-fields", "fields of StatusResponse", "spec-fields", "spec: fields of /v1/status"),
  rule(
    "status-category",
    "category narrows rows and fleet numbers together, not summary.categories",
    "api-board",
    "a category filters rows and fleet numbers, but not the counts of categories",
  ),
  rule(
    "status-days",
    "each row has 90 days",
    "api-board",
    "spec: 90 days, always: one that nobody measured is null, not 0 and not missing",
  ),
  rule(
    "status-sparkline",
    "each row has 24 points of latency",
    "api-board",
    "spec: a sparkline has 24 points, an hour apart",
  ),
  rule(
    "status-no-percentiles",
    "no percentiles of components on the board",
    "spec-fields",
    "spec: an Incident has no category, and a board row no percentiles of components",
  ),
  rule(
    "status-400",
    "a category that is not allowed is 400",
    "api-parameters",
    "an invalid value is 400, and its parameter is named",
  ),

  // one venue
  rule("venue-fields", "fields of ExchangeResponse", "spec-fields", "spec: fields of /v1/targets/{venue}"),
  rule(
    "venue-days",
    "90 days, combined over the regions",
    "api-board",
    "spec: 90 days, always: one that nobody measured is null, not 0 and not missing",
  ),
  rule(
    "venue-two-paths",
    "both paths answer the same bytes",
    "api-board",
    "both paths of a venue have the same bytes, while samples arrive",
  ),
  rule(
    "venue-range",
    "range: 24h by minutes, 7d by hours",
    "spec-answers",
    "spec: range is 24h by minutes or 7d by hours",
  ),
  rule("venue-chart", "the chart has every bucket of the range", "api-board", "a chart has every bucket of its range"),
  rule(
    "venue-region",
    "region selects chart, endpoints and streams, and not state, days or uptime",
    "api-board",
    "a region selects latency, endpoints and streams, and nothing else",
  ),
  rule(
    "venue-exact",
    "percentiles of chart and endpoints are exact over raw samples",
    "api-board",
    "percentiles are exact over raw samples",
  ),
  rule(
    "venue-defaults",
    "24h and the primary region by default",
    "spec-answers",
    "spec: windows are 90 days by default, limit 50, status all, range 24h, region the primary",
  ),
  rule(
    "venue-400",
    "range or region that is not allowed is 400",
    "api-parameters",
    "an invalid value is 400, and its parameter is named",
  ),
  rule(
    "venue-404",
    "a venue that is not in the registry is 404",
    "api-parameters",
    "an unknown path is 404, and an invalid one 400",
  ),
  rule(
    "venue-50",
    "the 50 most recent incidents",
    "api-incidents",
    "spec: a venue's page has the 50 most recent incidents, newest first",
  ),
  rule(
    "venue-newest",
    "incidents are listed newest first",
    "api-incidents",
    "spec: a venue's page has the 50 most recent incidents, newest first",
  ),
  rule(
    "venue-patterns",
    "patterns cover the whole window and link every incident in it",
    "incident-patterns",
    "every incident of the window is counted once",
  ),
  rule(
    "venue-summary",
    "summary is the object that /v1/reliability carries",
    "reliability",
    "spec: summary on the venue detail is the row of /v1/reliability",
  ),
  rule(
    "venue-lag",
    "lag exists only for chain readers, per region, against our own freshest head",
    "api-states",
    "lag compares with the freshest head of the same region",
  ),
  rule(
    "venue-no-symbol",
    "symbol and quote are null where no instrument is traded",
    "api-states",
    "lag compares with the freshest head of the same region",
  ),
  rule(
    "venue-cadence",
    "each endpoint has its resolved cadence",
    "spec-answers",
    "spec: each endpoint and stream has the cadence of the registry",
  ),

  // states
  rule(
    "state-silent",
    "no engine output for 5 minutes: every state is unknown",
    "spec-answers",
    "spec: after 5 minutes without the engine every state is unknown, and 3 in the metrics",
  ),
  rule("state-no-evidence", "a component without evidence is unknown", "api-states", "before anything was measured"),
  rule(
    "state-one-region",
    "one region failing alone does not make a venue down",
    "api-states",
    "when one region alone sees everything bad",
  ),
  rule(
    "state-majority",
    "a simple majority of the reporting regions makes a venue down",
    "engine-scenarios",
    "the engine decides states as each scenario says",
  ),
];
