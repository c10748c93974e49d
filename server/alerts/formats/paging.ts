import { createHash } from "node:crypto";
import type { Alert } from "./alert.js";
import { bounded } from "../delivery/bounded.js";
import { headline } from "./headline.js";
import type { WebhookRequest, PagingDestination, Sent } from "./webhook-request.js";
import { permalinkOf } from "./permalink.js";

/** A key works in its own service region alone. */
const endpoints = {
  us: "https://events.pagerduty.com/v2/enqueue",
  eu: "https://events.eu.pagerduty.com/v2/enqueue",
};

/** An event for PagerDuty's Events API v2: an opening and an escalation trigger, a closing resolves. */
export function formatPagingAlert(
  { serviceRegion, routingKey }: PagingDestination,
  alert: Alert,
  sent: Sent,
): WebhookRequest {
  const event = {
    // the credential: nothing is signed
    routing_key: routingKey,
    event_action: alert.kind === "closed" ? "resolve" : "trigger",
    dedup_key: keyOf(alert, sent),
    client: "venuewatch",
    client_url: sent.baseUrl,
    links: [{ href: permalinkOf(alert, sent.baseUrl), text: "The incident" }],
    payload: payloadOf(alert),
  };
  return {
    url: new URL((sent.pagingEndpoints ?? endpoints)[serviceRegion]),
    headers: {
      "content-type": "application/json",
      "user-agent": sent.userAgent,
    },
    body: Buffer.from(JSON.stringify(event)),
    secrets: [routingKey],
  };
}

/**
 * One for all that is told of an incident, whatever the channel: a closing under another key would be dropped without
 * an error. Each test has its own: one more under the key of an alert that is still open pages nobody.
 */
function keyOf({ test, incident }: Alert, { deliveryId }: Sent): string {
  if (test) return `venuewatch/test/${deliveryId}`;
  const key = `venuewatch/${incident.slug}`;
  if (key.length <= 255) return key;
  // cut, two incidents might have the same
  const digest = createHash("sha256").update(incident.slug).digest("hex");
  return `venuewatch/${digest}`;
}

function payloadOf(alert: Alert) {
  const { eventId, test, kind, severity, at } = alert;
  const { incident, venue, component, evidence } = alert;
  const summary = evidence?.summary;
  const sentence = [headline(alert), ...(summary ? [summary] : [])].join(". ");
  const { official } = incident;
  return {
    summary: bounded(sentence, 1024),
    source: bounded(venue.id, 255) || "venue",
    severity: test ? "info" : severity === "outage" ? "critical" : "warning",
    timestamp: incident.startedAt,
    component: bounded(component.id, 255),
    group: bounded(venue.category, 255),
    class: severity,
    custom_details: {
      eventId,
      test,
      kind,
      severity,
      at,
      startedAt: incident.startedAt,
      closedAt: incident.closedAt,
      endedAt: incident.endedAt,
      durationSeconds: incident.durationSeconds,
      venue: bounded(venue.name, 255),
      component: bounded(component.label, 255),
      evidence: bounded(summary ?? "none is kept", 1000),
      official: official && {
        title: bounded(official.title, 500),
        status: bounded(official.status, 100),
        url: official.url === null ? null : bounded(official.url, 1000),
        subjectMatched: official.subjectMatched,
      },
    },
  };
}
