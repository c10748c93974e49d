/** Rules of the contract about alerts and their receivers. */
import { rulesOf } from "./rule.js";

export const rulesOfAlerts = rulesOf({
  "spec-answers: spec: fields of /v1/notify": { "notify-fields": "fields of NotifyResponse" },
  "api-board: spec: the notify window is 30 days, and percentiles of no delivery are null": {
    "notify-30-days": "the window is 30 days",
    "notify-null": "percentiles are null where nothing was delivered",
  },
  "notify: spec: only delivered openings count": {
    "notify-openings": "only delivered openings count; closes, escalations and retracted incidents do not",
  },
  "notify: spec: an event that waited for more than 1 hour until it was claimed is a backfill": {
    "notify-backfill":
      "an event whose delivery was claimed more than 1 hour after it entered the outbox is excluded from the percentiles",
  },
  "notify: spec: the median and the 95 % percentile are of all channels together": {
    "notify-percentiles": "median and percentile of 95 % of delivered minus startedAt, all channels pooled",
  },
  "alert-formats: spec: an alert is application/json in every format": {
    "alert-json": "an alert is application/json, in every format",
  },
  "alert-formats: spec: 3 formats: native to its URL, chat to its URL, paging to the endpoint of its service region": {
    "alert-formats": "3 formats: native, chat, and paging to the endpoint of its service region",
  },
  "alert-formats: spec: chat and paging are neither signed nor sent a signature: the URL or the routing key is the credential":
    {
      "alert-unsigned": "chat and paging are neither signed nor sent a signature",
    },
  "native-alert: spec: a native alert carries x-svc-signature: t=<unix seconds>,v1=<hex hmac>": {
    "alert-signed":
      "the native format carries x-svc-signature: t and v1, HMAC-SHA256 over <t>.<raw body> by the channel's secret",
  },
  "native-alert: spec: receivers de-duplicate on eventId: it is the same on each retry and replay, and so is webhook-id":
    {
      "alert-event-id": "receivers de-duplicate on eventId",
    },
  "native-alert: spec: a test alert carries eventId 0 and test true": {
    "alert-test": "a test alert carries eventId 0 and test true",
  },
  "native-alert: spec: each alert carries the incident's start time, and openings, escalations and closes are distinct kinds":
    {
      "alert-start": "each alert carries the incident's start time",
      "alert-kinds": "openings, escalations and closes are distinct kinds",
    },
  "native-alert: spec: the incident of an alert is the same object that /v1/incidents has": {
    "alert-incident": "an alert's incident is the object of /v1/incidents",
  },
  "receiving: spec: a signature is good for 300 seconds, and is verified over the raw bytes before they are parsed": {
    "webhook-signature": "a signature is good for 300 seconds",
    "alert-raw": "a receiver verifies the raw bytes before it parses them",
  },
  "alert-post: spec: POST with content type application/json to the URL of the channel": {
    "webhook-post": "POST with content type application/json to the URL that the channel was created with",
  },
  "alert-post: spec: redirects are not followed": { "webhook-redirects": "redirects are not followed" },
  "alert-post: spec: the receiver answers with a 2xx status within 10 seconds, anything else is a failure": {
    "webhook-timeout": "a receiver answers with a 2xx status within 10 seconds; anything else is a failure",
  },
  "safe-address: spec: HTTPS only": { "webhook-https": "HTTPS only" },
  "alert-line: spec: up to 5 attempts, with growing pauses": {
    "webhook-attempts": "failures are retried with exponential backoff, up to 5 attempts",
  },
  "alert-line: spec: 10 failures in a row switch a channel off": {
    "webhook-switch-off": "10 failures in a row switch a channel off",
  },
  "alert-line: spec: it is kept for 90 days": { "alert-retention": "alert history is kept for 90 days" },
  "channel-command: list shows each channel's state": {
    "webhook-switch-off-shown": "the list of channels shows that a channel was switched off",
  },
  "channel-command: add shows the signing secret once": {
    "alert-default-format": "native is the default format",
    "alert-secret-once": "the secret of a channel is shown once, when it is created",
  },
  "alert-metrics: metrics show waiting deliveries, and channels that are off": {
    "webhook-switch-off-told": "the programs' own metrics show that a channel was switched off",
  },
  "alert-line: a dispatcher that is gone loses its claims": {
    "alert-at-least-once": "delivery is at least once: an unfinished delivery is sent again",
  },
  "alert-line: no channel gets an alert of a retracted incident": {
    "alert-retracted": "retracted incidents are not alerted",
  },
  "alert-formats: spec: retry policy, delivery log and severity floor apply to all 3 formats": {
    "alert-all-formats": "retry policy, delivery log and severity floor apply to all 3 formats",
  },
  "alert-formats: spec: an event that was not dispatched yet is sent however old it is": {
    "alert-backfill": "an event that was not dispatched yet is sent regardless of its age",
  },
});
