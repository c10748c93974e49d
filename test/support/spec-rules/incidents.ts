/** Rules of the contract about incidents. */
import { rulesOf } from "./rule.js";

export const rulesOfIncidents = rulesOf({
  "spec-answers: spec: fields of /v1/incidents": { "incidents-fields": "fields of IncidentsResponse and of Incident" },
  "spec-answers: spec: an Incident has no category, and a board row no percentiles of components": {
    "incidents-no-category": "an Incident carries no category",
  },
  "spec-answers: spec: fields of /v1/incidents/{slug}": { "incident-fields": "fields of IncidentDetailResponse" },
  "api-incidents: is in order, newest first and ties by id": { "incidents-order": "by startedAt, newest first" },
  "api-incidents: treats before alone as strictly before": {
    "incidents-before": "before selects incidents strictly before this instant",
  },
  "api-incidents: loses and repeats no incident over its pages": {
    "incidents-cursor": "paging by cursor loses and repeats nothing",
  },
  "api-incidents: applies filters": { "incidents-filters": "venue, category, status" },
  "api-incidents: spec: while it is open, it is cached for 5 seconds": {
    "incident-cache-open": "cached for 5 seconds while open",
  },
  "api-incidents: spec: after it closed, it is cached for 300 seconds": {
    "incident-cache-closed": "cached for 300 seconds once closed",
  },
  "api-incidents: is 404 for an incident that never existed": { "incident-404": "an unknown slug is 404" },
  "api-incidents: does not show incidents of a venue that is no longer published": {
    "incident-404-unpublished": "the slug of a venue that is no longer published is 404",
  },
  "api-incidents: does not show a retracted incident": {
    "incident-retracted": "retracted ones are absent from listings",
  },
  "spec-answers: spec: a page of incidents has 50 by default and 200 at the most": {
    "incidents-last-page": "a page shorter than the limit is the end",
    "incidents-limit": "limit: 50 by default, 200 at the most",
  },
  "spec-answers: spec: incidents go back 90 days unless days says otherwise, up to 365": {
    "incidents-days": "days: 90 by default",
  },
  "spec-answers: spec: windows are 90 days by default, limit 50, status all, range 24h, region the primary": {
    "incidents-defaults": "status all by default",
  },
  "spec-answers: spec: a slug says venue, day, kind and severity, and -2, -3 on": {
    "incident-slug": "the shape of a slug, and -2, -3",
  },
  "spec-answers: spec: a closed incident no longer changes": {
    "incident-closed": "a closed incident no longer changes",
  },
  "api-parameters: an invalid value is 400, and its parameter is named": {
    "incidents-400": "out of range or malformed is 400",
  },
  "registry: every component id is one that the API may show": {
    "incident-component": "component ids match ^(rest|ws):[a-z]+$",
  },
  "incident-pages: is one for a dead socket and its streams": {
    "incident-conn": "faults of the shared socket belong to ws:conn",
  },
  "incident-pages: has a timeline from the incident's times": {
    "incident-timeline": "the timeline is made from the incident's own columns",
  },
  "incident-pages: has the REST latency for a stalled stream": {
    "incident-stream-latency": "an incident of a stream shows the venue's REST latency, labelled so",
  },
});
