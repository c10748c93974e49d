/** Rules of the contract that hold for more than one endpoint. */
import { rulesOf } from "./rule.js";

export const rulesOfEveryAnswer = rulesOf({
  "spec-answers: spec: every 200 JSON body carries generatedAt": {
    "all-generated-at":
      "every 200 JSON body carries generatedAt; an OpenAPI document, which has no field for it, as x-generatedAt, one of Statuspage as page.updated_at; a badge has no field for it",
  },
  "spec-answers: spec: the 7 categories, and no other": {
    "all-category-400": "a category outside the set is 400",
    "all-categories": "7 categories",
  },
  "spec-answers: spec: every endpoint is GET and needs no key": {
    "all-get":
      "every endpoint is GET and needs no key; only /mcp, which agents ask by their own protocol, is POSTed to",
  },
  "spec-answers: spec: a page of incidents has 50 by default and 200 at the most": {
    "limit-page": "incidents a page: 50, at the most 200",
  },
  "spec-answers: spec: windows are 90 days by default, limit 50, status all, range 24h, region the primary": {
    "limit-windows": "windows are 90 days by default",
  },
  "spec-answers: spec: windows are at least 1 day, in requests and in answers": {
    "limit-window-minimum": "windows in responses are at least 1",
  },
  "spec-answers: spec: range is 24h by minutes or 7d by hours": { "limit-buckets": "minutes for 24h, hours for 7d" },
  "spec-answers: spec: probeIntervalMs and bucketMs are at least 1": {
    "limit-interval": "probeIntervalMs and bucketMs are at least 1",
  },
  "spec-answers: spec: after 5 minutes without the engine every state is unknown, and 3 in the metrics": {
    "limit-silence": "engine staleness: 5 minutes",
  },
  "spec-answers: spec: /v1/exchanges/{venue} is not deprecated": {
    "version-not-deprecated": "/v1/exchanges/{venue} is not deprecated",
  },
  "spec-answers: spec: absent parameters answer as their defaults": {
    "version-defaults": "absent parameters keep the earlier meaning",
  },
  "reliability: spec: an allowed category without measured venues is 200 with an empty list": {
    "all-category-empty": "an allowed category without measured venues is 200 with an empty list",
    "error-unmeasured": "an allowed category without measurements is no error",
  },
  "api-board: a category filters rows and fleet numbers, but not the counts of categories": {
    "all-category-empty-board": "an allowed category without measured venues is 200 with an empty list on the board",
  },
  "api-board: spec: data is cached for 5 s; ETags hold within a tick, and who has the body gets 304": {
    "all-cache": "data may be cached for 5 seconds, as long as a tick, with an ETag",
  },
  "api-board: both paths of a venue have the same bytes, while samples arrive": {
    "version-exchanges": "/v1/exchanges/{venue} remains, with the same response",
  },
  "api-incidents: applies filters": {
    "all-category-empty-incidents":
      "an allowed category without measured venues is 200 with an empty list of incidents",
  },
  "api-incidents: spec: a venue's page has the 50 most recent incidents, newest first": {
    "limit-recent": "50 recent incidents on a venue's page, newest first",
  },
  "api-incidents: spec: while it is open, it is cached for 5 seconds": {
    "limit-cache-open": "an incident's page: 5 seconds while open",
  },
  "api-incidents: spec: after it closed, it is cached for 300 seconds": {
    "limit-cache-closed": "an incident's page: 300 seconds once closed",
  },
  "registry: spec: the board is the 15 venues, and no other": {
    "all-venues": "15 venue ids, each with name, category, symbol and quote",
  },
  "openapi: a client that knows only the description gets the described responses": {
    "all-json": "JSON unless the request has format=csv or asks for a table",
  },
  "openapi: 400 and 404 occur exactly where they are described": {
    "error-404": "404 for unknown venues and slugs, and only there",
  },
  "openapi: spec: 429 is described and answered everywhere but on /healthz and /openapi.json": {
    "error-429": "429 everywhere but on /healthz and /openapi.json",
  },
  "openapi: every route is described, and no other": {
    "version-prefix": "data under /v1, meta endpoints without a prefix",
  },
  "openapi: spec: /openapi.json is OpenAPI 3.1": { "version-openapi": "OpenAPI 3.1" },
  "api-parameters: an invalid value is 400, and its parameter is named": {
    "error-400": "a parameter that is not allowed, out of range or malformed is 400",
  },
  "api-board: spec: the notify window is 30 days, and percentiles of no delivery are null": {
    "limit-notify": "notify: the last 30 days",
  },
  "api-board: spec: subjectMatched is false on each detection, and a lead time is aheadUncorrelated": {
    "version-ahead": "the lead time is named aheadUncorrelated",
  },
  "pairing: spec: pairs begin within 6 hours of each other, either way, on the same venue": {
    "limit-pairing": "detection pairing window: plus or minus 6 hours",
  },
  "api-limits: the rules are published without a database, with stall thresholds and reasons": {
    "version-build": "/v1/thresholds names the build",
  },
});
