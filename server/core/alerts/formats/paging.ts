import { createHash } from "node:crypto";
import {
  type Alert,
  headline,
  type IncidentAlert,
  isAboutTransfer,
  permalinkOf,
  type TransferAlert,
  truncated,
} from "./alert.js";
import type { WebhookRequest, PagingDestination, Sent } from "./webhook-request.js";

/** A key is valid only in its own service region. */
const pagingEndpoints = {
  us: "https://events.pagerduty.com/v2/enqueue",
  eu: "https://events.eu.pagerduty.com/v2/enqueue",
};

const endings: ReadonlySet<string> = new Set(["closed", "transfer_resumed", "transfer_unknown"]);

/** Beginnings and escalations trigger, ends resolve. */
export function actionOf({ kind }: Alert): "trigger" | "resolve" {
  return endings.has(kind) ? "resolve" : "trigger";
}

/** An event for PagerDuty's Events API v2. */
export function formatPagingAlert(
  { serviceRegion, routingKey }: PagingDestination,
  alert: Alert,
  sent: Sent,
): WebhookRequest {
  const event = {
    // no signature: the routing key is the credential
    routing_key: routingKey,
    event_action: actionOf(alert),
    dedup_key: keyOf(alert, sent),
    client: "venuewatch",
    client_url: sent.baseUrl,
    links: [
      {
        href: permalinkOf(alert, sent.baseUrl),
        text: isAboutTransfer(alert) ? "What the venue declares" : "The incident",
      },
    ],
    payload: isAboutTransfer(alert) ? transferPayload(alert) : incidentPayload(alert),
  };
  return {
    url: new URL((sent.pagingEndpoints ?? pagingEndpoints)[serviceRegion]),
    headers: {
      "content-type": "application/json",
      "user-agent": sent.userAgent,
    },
    body: Buffer.from(JSON.stringify(event)),
    secrets: [routingKey],
  };
}

/**
 * The same for all alerts of an incident, or of one direction of a line of transfers, and all channels: PagerDuty drops
 * an end with another key without an error. Each test has its own key: a second test with the key of an open one would
 * page nobody.
 */
export function keyOf(alert: Alert, { deliveryId }: Pick<Sent, "deliveryId">): string {
  if (alert.test) return `venuewatch/test/${deliveryId}`;
  const about = isAboutTransfer(alert) ? lineOf(alert) : alert.incident.slug;
  const key = `venuewatch/${about}`;
  if (key.length <= 255) return key;
  // if it were cut, two incidents could share a key
  const digest = createHash("sha256").update(about).digest("hex");
  return `venuewatch/${digest}`;
}

function lineOf({ venue, transfer }: TransferAlert): string {
  const { asset, venueNetwork, direction } = transfer;
  return ["transfers", venue.id, asset, venueNetwork ?? "", direction].map(encodeURIComponent).join("/");
}

function transferPayload(alert: TransferAlert) {
  const { eventId, test, kind, at, transfer, venue } = alert;
  const { asset, networkName, venueNetwork, direction, because, pausedAt, resumedAt } = transfer;
  return {
    summary: truncated([headline(alert), ...(because === null ? [] : [because])].join(". "), 1024),
    source: truncated(venue.id, 255) || "venue",
    severity: "warning",
    timestamp: pausedAt,
    component: truncated([asset, networkName ?? venueNetwork, direction].filter(Boolean).join(" "), 255),
    group: truncated(venue.category, 255),
    class: kind,
    custom_details: {
      ...{ eventId, test, kind, at, asset, direction, pausedAt, resumedAt },
      network: networkName && truncated(networkName, 255),
      venueNetwork: venueNetwork && truncated(venueNetwork, 255),
      venue: truncated(venue.name, 255),
      because: because && truncated(because, 1000),
    },
  };
}

function incidentPayload(alert: IncidentAlert) {
  const { eventId, test, kind, severity, at } = alert;
  const { incident, venue, component, evidence } = alert;
  const summary = evidence?.summary;
  const sentence = [headline(alert), ...(summary ? [summary] : [])].join(". ");
  const { official, maintenance } = incident;
  return {
    summary: truncated(sentence, 1024),
    source: truncated(venue.id, 255) || "venue",
    severity: test ? "info" : severity === "outage" ? "critical" : "warning",
    timestamp: incident.startedAt,
    component: truncated(component.id, 255),
    group: truncated(venue.category, 255),
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
      venue: truncated(venue.name, 255),
      component: truncated(component.label, 255),
      evidence: truncated(summary ?? "not stored", 1000),
      official: official && {
        title: truncated(official.title, 500),
        status: truncated(official.status, 100),
        url: official.url === null ? null : truncated(official.url, 1000),
        subjectMatched: official.subjectMatched,
      },
      maintenance: maintenance && {
        title: truncated(maintenance.title, 500),
        from: maintenance.from,
        until: maintenance.until,
        announcedAt: maintenance.announcedAt,
        overran: maintenance.overran,
        url: maintenance.url === null ? null : truncated(maintenance.url, 1000),
      },
    },
  };
}
