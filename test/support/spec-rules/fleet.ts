/** Rules of the contract about the whole fleet and the service. */
import { type Rule, rule } from "./rule.js";

export const rulesOfFleet: Rule[] = [
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
    "pairing",
    "spec: pairs begin within 6 hours of each other, either way, on the same venue",
  ),
  rule(
    "detection-medians",
    "the fleet row carries no median",
    "pairing",
    "spec: the fleet row carries no median, and a venue's is of 5 leads or more",
  ),
  rule(
    "official-incidents",
    "each incident of a venue's page has its official counterpart; every pairing says subjectMatched false",
    "comparing",
    "spec: each incident of a venue's page has its official counterpart, and each pairing subjectMatched false",
  ),

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
];
