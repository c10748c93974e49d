/**
 * The rules of the API's contract, each with the test that holds it. An id never changes its meaning.
 * `spec-rules.test.ts` reads the named files for the named tests. Numbers are written in digits, and a rule's numbers
 * are part of its test's name.
 */
export interface Rule {
  id: string;
  rule: string;
  /** Name of a file of tests, and of a test in it. */
  test: [file: string, name: string];
}

function rule(id: string, words: string, file: string, name: string): Rule {
  return { id, rule: words, test: [`${file}.test.ts`, name] };
}

export const rules: Rule[] = [
  // cross-cutting
  rule(
    "all-generated-at",
    "every 200 JSON body carries generatedAt; an OpenAPI document, which has no field for it, as x-generatedAt",
    "spec-answers",
    "spec: every 200 JSON body carries generatedAt",
  ),
  rule(
    "all-category-empty",
    "an allowed category without measured venues is 200 with an empty list",
    "reliability",
    "spec: an allowed category without measured venues is 200 with an empty list",
  ),
  rule(
    "all-category-empty-board",
    "an allowed category without measured venues is 200 with an empty list on the board",
    "api-board",
    "a category filters rows and fleet numbers, but not the counts of categories",
  ),
  rule(
    "all-category-empty-incidents",
    "an allowed category without measured venues is 200 with an empty list of incidents",
    "api-incidents",
    "applies filters",
  ),
  rule("all-category-400", "a category outside the set is 400", "spec-answers", "spec: the 7 categories, and no other"),
  rule("all-categories", "7 categories", "spec-answers", "spec: the 7 categories, and no other"),
  rule(
    "all-venues",
    "15 venue ids, each with name, category, symbol and quote",
    "registry",
    "spec: the board is the 15 venues, and no other",
  ),
  rule(
    "all-get",
    "every endpoint is GET and needs no key",
    "spec-answers",
    "spec: every endpoint is GET and needs no key",
  ),
  rule(
    "all-json",
    "JSON unless the request has format=csv",
    "openapi",
    "a client that knows only the description gets the described responses",
  ),
  rule(
    "all-cache",
    "data may be cached for 5 seconds, as long as a tick, with an ETag",
    "api-board",
    "spec: data is cached for 5 s; ETags hold within a tick, and who has the body gets 304",
  ),

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

  // the fleet and its rules
  rule("regions-fields", "fields of RegionsResponse", "spec-fields", "spec: fields of /v1/regions"),
  rule(
    "regions-silent",
    "reporting is derived from measurements; a silent region is listed with false",
    "api-board",
    "a silent region is listed, and the quorum counts reporting regions",
  ),
  rule("thresholds-fields", "fields of ThresholdsResponse", "spec-fields", "spec: fields of /v1/thresholds"),
  rule(
    "thresholds-no-database",
    "rules and stalls come from constants and registry, without a database",
    "api-limits",
    "the rules are published without a database: each stream's stall threshold, each number's reason",
  ),
  rule(
    "thresholds-rules",
    "error rates, the latency multiple and its floor, sample floors, recovery hold and flap damping are published",
    "api-limits",
    "spec: the thresholds are the engine's own: error rates, slowness, sample floors, recovery and flapping",
  ),
  rule(
    "thresholds-stalls",
    "one stall threshold for each stream of the registry",
    "api-limits",
    "the rules are published without a database: each stream's stall threshold, each number's reason",
  ),
  rule(
    "thresholds-version",
    "version is the build of the engine",
    "api-limits",
    "the rules are published without a database: each stream's stall threshold, each number's reason",
  ),
  rule(
    "thresholds-dated",
    "changes of rules are dated in the changelog",
    "rules",
    "a change of the rules has a version and a date",
  ),

  // reliability
  rule("reliability-fields", "fields of ReliabilityResponse", "spec-fields", "spec: fields of /v1/reliability"),
  rule(
    "reliability-fleet",
    "fleet describes only the rows returned",
    "reliability",
    "spec: fleet describes only the rows returned, after the category filter",
  ),
  rule(
    "reliability-days",
    "days from 1, by default 90; out of range is 400",
    "reliability",
    "spec: days of /v1/reliability is 1 to 90, by default 90",
  ),
  rule("reliability-measured-days", "measuredDays beside days", "spec-fields", "spec: fields of /v1/reliability"),

  // detection
  rule("detection-fields", "fields of DetectionResponse", "spec-fields", "spec: fields of /v1/detection"),
  rule(
    "detection-days",
    "days from 1, by default 90; out of range is 400",
    "detection",
    "spec: days of /v1/detection is 1 to 90, by default 90",
  ),
  rule(
    "detection-subject",
    "subjectMatched is false on every pairing",
    "detection",
    "spec: subjectMatched is false on every detection, and the lead time is aheadUncorrelated",
  ),
  rule(
    "detection-name",
    "the lead time is named aheadUncorrelated",
    "detection",
    "spec: subjectMatched is false on every detection, and the lead time is aheadUncorrelated",
  ),
  rule(
    "detection-denominators",
    "denominators are part of the result",
    "detection",
    "spec: denominators are part of the detection result",
  ),
  rule(
    "detection-window",
    "pairs begin within 6 hours of each other, either way, on the same venue",
    "comparing",
    "spec: pairs begin within 6 hours of each other, either way, on the same venue",
  ),
  rule(
    "detection-medians",
    "the fleet row carries no median",
    "comparing",
    "spec: the fleet row carries no median, and a venue's is of 5 leads or more",
  ),
  rule(
    "official-incidents",
    "each incident of a venue's page has its official counterpart; every pairing says subjectMatched false",
    "comparing",
    "spec: each incident of a venue's page has its official counterpart, and each pairing subjectMatched false",
  ),

  // incidents
  rule(
    "incidents-fields",
    "fields of IncidentsResponse and of Incident",
    "spec-fields",
    "spec: fields of /v1/incidents",
  ),
  rule(
    "incidents-no-category",
    "an Incident carries no category",
    "spec-fields",
    "spec: an Incident has no category, and a board row no percentiles of components",
  ),
  rule("incidents-order", "by startedAt, newest first", "api-incidents", "is in order, newest first and ties by id"),
  rule(
    "incidents-before",
    "before selects incidents strictly before this instant",
    "api-incidents",
    "treats before alone as strictly before",
  ),
  rule(
    "incidents-cursor",
    "paging by cursor loses and repeats nothing",
    "api-incidents",
    "loses and repeats no incident over its pages",
  ),
  rule(
    "incidents-last-page",
    "a page shorter than the limit is the end",
    "spec-answers",
    "spec: a page of incidents has 50 by default and 200 at the most",
  ),
  rule(
    "incidents-limit",
    "limit: 50 by default, 200 at the most",
    "spec-answers",
    "spec: a page of incidents has 50 by default and 200 at the most",
  ),
  rule(
    "incidents-days",
    "days: 90 by default",
    "spec-answers",
    "spec: incidents go back 90 days unless days says otherwise, up to 365",
  ),
  rule("incidents-filters", "venue, category, status", "api-incidents", "applies filters"),
  rule(
    "incidents-defaults",
    "status all by default",
    "spec-answers",
    "spec: windows are 90 days by default, limit 50, status all, range 24h, region the primary",
  ),
  rule(
    "incidents-400",
    "out of range or malformed is 400",
    "api-parameters",
    "an invalid value is 400, and its parameter is named",
  ),
  rule("incident-fields", "fields of IncidentDetailResponse", "spec-fields", "spec: fields of /v1/incidents/{slug}"),
  rule(
    "incident-slug",
    "the shape of a slug, and -2, -3",
    "spec-answers",
    "spec: a slug says venue, day, kind and severity, and -2, -3 on",
  ),
  rule(
    "incident-component",
    "component ids match ^(rest|ws):[a-z]+$",
    "registry",
    "every component id is one that the API may show",
  ),
  rule(
    "incident-conn",
    "faults of the shared socket belong to ws:conn",
    "incident-pages",
    "is one for a dead socket and its streams",
  ),
  rule(
    "incident-timeline",
    "the timeline is made from the incident's own columns",
    "incident-pages",
    "has a timeline from the incident's times",
  ),
  rule(
    "incident-stream-latency",
    "an incident of a stream shows the venue's REST latency, labelled so",
    "incident-pages",
    "has the REST latency for a stalled stream",
  ),
  rule(
    "incident-cache-open",
    "cached for 5 seconds while open",
    "api-incidents",
    "spec: while it is open, it is cached for 5 seconds",
  ),
  rule(
    "incident-cache-closed",
    "cached for 300 seconds once closed",
    "api-incidents",
    "spec: after it closed, it is cached for 300 seconds",
  ),
  rule("incident-404", "an unknown slug is 404", "api-incidents", "is 404 for an incident that never existed"),
  rule(
    "incident-404-unpublished",
    "the slug of a venue that is no longer published is 404",
    "api-incidents",
    "does not show incidents of a venue that is no longer published",
  ),
  rule(
    "incident-retracted",
    "retracted ones are absent from listings",
    "api-incidents",
    "does not show a retracted incident",
  ),
  rule(
    "incident-closed",
    "a closed incident no longer changes",
    "spec-answers",
    "spec: a closed incident no longer changes",
  ),

  // alerts
  rule("notify-fields", "fields of NotifyResponse", "spec-fields", "spec: fields of /v1/notify"),
  rule(
    "notify-30-days",
    "the window is 30 days",
    "detection",
    "spec: the notify window is 30 days, and percentiles of no delivery are null",
  ),
  rule(
    "notify-null",
    "percentiles are null where nothing was delivered",
    "detection",
    "spec: the notify window is 30 days, and percentiles of no delivery are null",
  ),
  rule(
    "notify-openings",
    "only delivered openings count; closes, escalations and retracted incidents do not",
    "notify",
    "spec: only delivered openings count",
  ),
  rule(
    "notify-backfill",
    "an event whose delivery was claimed more than 1 hour after it entered the outbox is excluded from the percentiles",
    "notify",
    "spec: an event that waited for more than 1 hour until it was claimed is a backfill",
  ),
  rule(
    "notify-percentiles",
    "median and percentile of 95 % of delivered minus startedAt, all channels pooled",
    "notify",
    "spec: the median and the 95 % percentile are of all channels together, as the log of deliveries has them",
  ),
  rule(
    "alert-json",
    "an alert is application/json, in every format",
    "alert-letters",
    "spec: an alert is application/json in every format",
  ),
  rule(
    "alert-formats",
    "3 formats: native, chat, and paging to the endpoint of its service region",
    "alert-letters",
    "spec: 3 formats: native to its URL, chat to its URL, paging to the endpoint of its service region",
  ),
  rule(
    "alert-signed",
    "the native format carries x-svc-signature: t and v1, HMAC-SHA256 over <t>.<raw body> by the channel's secret",
    "native-alert",
    "spec: a native alert carries x-svc-signature: t=<unix seconds>,v1=<hex hmac>",
  ),
  rule(
    "webhook-signature",
    "a signature is good for 300 seconds",
    "receiving",
    "spec: a signature is good for 300 seconds, and is verified over the raw bytes before they are parsed",
  ),
  rule(
    "alert-raw",
    "a receiver verifies the raw bytes before it parses them",
    "receiving",
    "spec: a signature is good for 300 seconds, and is verified over the raw bytes before they are parsed",
  ),
  rule(
    "alert-unsigned",
    "chat and paging are neither signed nor sent a signature",
    "alert-letters",
    "spec: chat and paging are neither signed nor sent a signature: the URL or the routing key is the credential",
  ),
  rule(
    "alert-event-id",
    "receivers de-duplicate on eventId",
    "native-alert",
    "spec: receivers de-duplicate on eventId: it is the same on each retry and replay, and so is webhook-id",
  ),
  rule(
    "alert-test",
    "a test alert carries eventId 0 and test true",
    "native-alert",
    "spec: a test alert carries eventId 0 and test true",
  ),
  rule(
    "alert-start",
    "each alert carries the incident's start time",
    "native-alert",
    "spec: each alert carries the incident's start time, and openings, escalations and closes are distinct kinds",
  ),
  rule(
    "alert-kinds",
    "openings, escalations and closes are distinct kinds",
    "native-alert",
    "spec: each alert carries the incident's start time, and openings, escalations and closes are distinct kinds",
  ),
  rule(
    "alert-incident",
    "an alert's incident is the object of /v1/incidents",
    "native-alert",
    "spec: the incident of an alert is the same object that /v1/incidents has",
  ),

  rule(
    "webhook-post",
    "POST with content type application/json to the URL that the channel was created with",
    "alert-post",
    "spec: POST with content type application/json to the URL of the channel",
  ),
  rule("webhook-https", "HTTPS only", "safe-address", "spec: HTTPS only"),
  rule("webhook-redirects", "redirects are not followed", "alert-post", "spec: redirects are not followed"),
  rule(
    "webhook-timeout",
    "a receiver answers with a 2xx status within 10 seconds; anything else is a failure",
    "alert-post",
    "spec: the receiver answers with a 2xx status within 10 seconds, anything else is a failure",
  ),
  rule(
    "webhook-attempts",
    "failures are retried with exponential backoff, up to 5 attempts",
    "alert-line",
    "spec: up to 5 attempts, with growing pauses",
  ),
  rule(
    "webhook-switch-off",
    "10 failures in a row switch a channel off",
    "alert-line",
    "spec: 10 failures in a row switch a channel off",
  ),
  rule(
    "webhook-switch-off-shown",
    "the list of channels shows that a channel was switched off",
    "channel-command",
    "list shows each channel's state",
  ),
  rule(
    "webhook-switch-off-told",
    "the programs' own metrics show that a channel was switched off",
    "alert-metrics",
    "metrics show waiting deliveries, and channels that are off",
  ),
  rule(
    "alert-at-least-once",
    "delivery is at least once: an unfinished delivery is sent again",
    "alert-line",
    "a dispatcher that is gone loses its claims",
  ),
  rule(
    "alert-all-formats",
    "retry policy, delivery log and severity floor apply to all 3 formats",
    "alert-formats",
    "spec: retry policy, delivery log and severity floor apply to all 3 formats",
  ),
  rule(
    "alert-retracted",
    "retracted incidents are not alerted",
    "alert-line",
    "no channel gets an alert of a retracted incident",
  ),
  rule(
    "alert-backfill",
    "an event that was not dispatched yet is sent regardless of its age",
    "alert-formats",
    "spec: an event that was not dispatched yet is sent however old it is",
  ),
  rule("alert-default-format", "native is the default format", "channel-command", "add shows the signing secret once"),
  rule(
    "alert-secret-once",
    "the secret of a channel is shown once, when it is created",
    "channel-command",
    "add shows the signing secret once",
  ),
  rule("alert-retention", "alert history is kept for 90 days", "alert-line", "spec: it is kept for 90 days"),

  // the service
  rule("health-fields", "fields of HealthResponse", "spec-fields", "spec: fields of /healthz"),
  rule(
    "health-no-database",
    "liveness does not depend on the datastore",
    "openapi",
    "503 occurs exactly where it is described",
  ),
  rule(
    "health-service",
    "core, web and probe state which program they are",
    "own-metrics",
    "each program exports metrics of its work, and its identity",
  ),
  rule("openapi-31", "/openapi.json is OpenAPI 3.1", "openapi", "spec: /openapi.json is OpenAPI 3.1"),
  rule(
    "openapi-only-returned",
    "/openapi.json describes only fields that the API returns",
    "api-states",
    "every described value is returned in some state",
  ),
  rule(
    "openapi-all-returned",
    "the API returns nothing that /openapi.json does not describe",
    "spec-answers",
    "spec: nothing is answered that is not described",
  ),
  rule("openapi-routes", "every endpoint is described", "openapi", "every route is described, and no other"),

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

  // errors
  rule(
    "error-400",
    "a parameter that is not allowed, out of range or malformed is 400",
    "api-parameters",
    "an invalid value is 400, and its parameter is named",
  ),
  rule(
    "error-404",
    "404 for unknown venues and slugs, and only there",
    "openapi",
    "400 and 404 occur exactly where they are described",
  ),
  rule(
    "error-429",
    "429 everywhere but on /healthz and /openapi.json",
    "openapi",
    "spec: 429 is described and answered everywhere but on /healthz and /openapi.json",
  ),
  rule(
    "error-unmeasured",
    "an allowed category without measurements is no error",
    "reliability",
    "spec: an allowed category without measured venues is 200 with an empty list",
  ),

  // limits
  rule(
    "limit-page",
    "incidents a page: 50, at the most 200",
    "spec-answers",
    "spec: a page of incidents has 50 by default and 200 at the most",
  ),
  rule(
    "limit-windows",
    "windows are 90 days by default",
    "spec-answers",
    "spec: windows are 90 days by default, limit 50, status all, range 24h, region the primary",
  ),
  rule(
    "limit-window-minimum",
    "windows in responses are at least 1",
    "spec-answers",
    "spec: windows are at least 1 day, in requests and in answers",
  ),
  rule(
    "limit-recent",
    "50 recent incidents on a venue's page, newest first",
    "api-incidents",
    "spec: a venue's page has the 50 most recent incidents, newest first",
  ),
  rule(
    "limit-buckets",
    "minutes for 24h, hours for 7d",
    "spec-answers",
    "spec: range is 24h by minutes or 7d by hours",
  ),
  rule(
    "limit-interval",
    "probeIntervalMs and bucketMs are at least 1",
    "spec-answers",
    "spec: probeIntervalMs and bucketMs are at least 1",
  ),
  rule(
    "limit-notify",
    "notify: the last 30 days",
    "detection",
    "spec: the notify window is 30 days, and percentiles of no delivery are null",
  ),
  rule(
    "limit-silence",
    "engine staleness: 5 minutes",
    "spec-answers",
    "spec: after 5 minutes without the engine every state is unknown, and 3 in the metrics",
  ),
  rule(
    "limit-cache-open",
    "an incident's page: 5 seconds while open",
    "api-incidents",
    "spec: while it is open, it is cached for 5 seconds",
  ),
  rule(
    "limit-cache-closed",
    "an incident's page: 300 seconds once closed",
    "api-incidents",
    "spec: after it closed, it is cached for 300 seconds",
  ),

  rule(
    "limit-pairing",
    "detection pairing window: plus or minus 6 hours",
    "comparing",
    "spec: pairs begin within 6 hours of each other, either way, on the same venue",
  ),

  // versioning
  rule(
    "version-prefix",
    "data under /v1, meta endpoints without a prefix",
    "openapi",
    "every route is described, and no other",
  ),
  rule(
    "version-exchanges",
    "/v1/exchanges/{venue} remains, with the same response",
    "api-board",
    "both paths of a venue have the same bytes, while samples arrive",
  ),
  rule(
    "version-not-deprecated",
    "/v1/exchanges/{venue} is not deprecated",
    "spec-answers",
    "spec: /v1/exchanges/{venue} is not deprecated",
  ),
  rule(
    "version-ahead",
    "the lead time is named aheadUncorrelated",
    "detection",
    "spec: subjectMatched is false on every detection, and the lead time is aheadUncorrelated",
  ),
  rule(
    "version-build",
    "/v1/thresholds names the build",
    "api-limits",
    "the rules are published without a database: each stream's stall threshold, each number's reason",
  ),
  rule("version-openapi", "OpenAPI 3.1", "openapi", "spec: /openapi.json is OpenAPI 3.1"),
  rule(
    "version-defaults",
    "absent parameters keep the earlier meaning",
    "spec-answers",
    "spec: absent parameters answer as their defaults",
  ),

  // tables and metrics
  rule(
    "csv-columns",
    "each row carries generatedAt, the window, the measured part of it and methodologyUrl",
    "api-csv",
    "every row names its instant and its window",
  ),
  rule(
    "csv-disposition",
    "content-disposition makes a browser save the table",
    "api-csv",
    "every row names its instant and its window",
  ),
  rule(
    "csv-venue-days",
    "a venue's table has a row for each of 90 days, with uptimePct empty where nothing was measured",
    "api-csv",
    "spec: a venue's 90 days are those of its JSON",
  ),
  rule(
    "csv-reliability",
    "the table of /v1/reliability has a row for each venue",
    "api-csv",
    "compared venues have the same rows as their JSON",
  ),
  rule(
    "csv-incidents",
    "the table of /v1/incidents has a row for each incident",
    "api-csv",
    "incidents have the same rows as their JSON, for each page and filter",
  ),
  rule(
    "csv-incidents-notice",
    "the venue's own notice beside an incident, and subjectMatched false on every pairing",
    "comparing",
    "spec: in the table of incidents the venue's own notice stands beside each, and subjectMatched false on every pairing",
  ),
  rule(
    "csv-format",
    "format is json or csv, by default json",
    "api-csv",
    "unknown venues and invalid parameters are problems",
  ),
  rule(
    "metrics-families",
    // svc_generated_at_seconds and svc_latency_samples beside them are additive: a scrape must be able to see how old
    // it is, and of how many answers
    "4 gauge families and no _sum or _count, in format 0.0.4",
    "metrics",
    "spec: 4 families of gauges, and 2 that say what they are of, in format 0.0.4, when all is well",
  ),
  rule(
    "metrics-state",
    "every venue and component has a series on every scrape, 3 without evidence",
    "metrics",
    "spec: before anything was measured: all of it, as 3",
  ),
  rule(
    "metrics-silent",
    "every state is 3 after 5 minutes of silence",
    "spec-answers",
    "spec: after 5 minutes without the engine every state is unknown, and 3 in the metrics",
  ),
  rule(
    "metrics-region",
    "states of each region, before the quorum is applied",
    "metrics",
    "an outage that two of three regions see",
  ),
  rule(
    "metrics-latency",
    "latency of the last complete minute, in seconds, REST only, absent where not measured",
    "metrics",
    "latency is that of the newest complete minute",
  ),
  rule(
    "metrics-percentile",
    "the label is percentile, not quantile",
    "metrics",
    "spec: 4 families of gauges, and 2 that say what they are of, in format 0.0.4, when all is well",
  ),
  rule(
    "metrics-incident",
    "svc_incident_open says whether one of that severity is open; retracted ones are absent",
    "metrics",
    "open incidents by their present severity",
  ),
  rule("metrics-limited", "/metrics may answer 429", "metrics", "a scrape counts for the rate limit"),
];
