/** Rules of the contract that hold for more than one endpoint. */
import { type Rule, rule } from "./rule.js";

export const rulesOfEveryAnswer: Rule[] = [
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
    "pairing",
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
];
