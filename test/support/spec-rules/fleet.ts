/** Rules of the contract about the whole fleet and the service. */
import { rulesOf } from "./rule.js";

export const rulesOfFleet = rulesOf({
  "spec-answers: spec: fields of /v1/regions": { "regions-fields": "fields of RegionsResponse" },
  "spec-answers: spec: fields of /v1/thresholds": { "thresholds-fields": "fields of ThresholdsResponse" },
  "spec-answers: spec: fields of /v1/reliability": {
    "reliability-fields": "fields of ReliabilityResponse",
    "reliability-measured-days": "measuredDays beside days",
  },
  "spec-answers: spec: fields of /v1/detection": { "detection-fields": "fields of DetectionResponse" },
  "spec-answers: spec: fields of /healthz": { "health-fields": "fields of HealthResponse" },
  "api-board: a silent region is listed, and the quorum counts reporting regions": {
    "regions-silent": "reporting is derived from measurements; a silent region is listed with false",
  },
  "api-limits: the rules are published without a database, with stall thresholds and reasons": {
    "thresholds-no-database": "rules and stalls come from constants and registry, without a database",
    "thresholds-stalls": "one stall threshold for each stream of the registry",
    "thresholds-version": "version is the build of the engine",
  },
  "api-limits: spec: the published thresholds are the engine's own": {
    "thresholds-rules":
      "error rates, the latency multiple and its floor, sample floors, recovery hold and flap damping are published",
  },
  "rules: a change of the rules has a version and a date": {
    "thresholds-dated": "changes of rules are dated in the changelog",
  },
  "reliability: spec: fleet describes only the rows returned, after the category filter": {
    "reliability-fleet": "fleet describes only the rows returned",
  },
  "reliability: spec: days of /v1/reliability is 1 to 90, by default 90": {
    "reliability-days": "days from 1, by default 90; out of range is 400",
  },
  "api-board: spec: days of /v1/detection is 1 to 90, by default 90": {
    "detection-days": "days from 1, by default 90; out of range is 400",
  },
  "api-board: spec: subjectMatched is false on each detection, and a lead time is aheadUncorrelated": {
    "detection-subject": "subjectMatched is false on every pairing",
    "detection-name": "the lead time is named aheadUncorrelated",
  },
  "api-board: spec: denominators are part of the detection result": {
    "detection-denominators": "denominators are part of the result",
  },
  "pairing: spec: pairs begin within 6 hours of each other, either way, on the same venue": {
    "detection-window": "pairs begin within 6 hours of each other, either way, on the same venue",
  },
  "pairing: spec: the fleet row carries no median, and a venue's is of 5 leads or more": {
    "detection-medians": "the fleet row carries no median",
  },
  "comparing: spec: each incident of a venue's page has its official counterpart, and each pairing subjectMatched false":
    {
      "official-incidents":
        "each incident of a venue's page has its official counterpart; every pairing says subjectMatched false",
    },
  "openapi: 503 occurs exactly where it is described": {
    "health-no-database": "liveness does not depend on the datastore",
  },
  "openapi: spec: /openapi.json is OpenAPI 3.1": { "openapi-31": "/openapi.json is OpenAPI 3.1" },
  "openapi: every route is described, and no other": { "openapi-routes": "every endpoint is described" },
  "own-metrics: each program exports metrics of its work, and its identity": {
    "health-service": "core, web and probe state which program they are",
  },
  "api-states: every described value is returned in some state": {
    "openapi-only-returned": "/openapi.json describes only fields that the API returns",
  },
  "spec-answers: spec: nothing is answered that is not described": {
    "openapi-all-returned": "the API returns nothing that /openapi.json does not describe",
  },
});
