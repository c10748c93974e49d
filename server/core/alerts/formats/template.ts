import { type Alert, headline, isAboutTransfer, jsonUrlOf, permalinkOf, truncated } from "./alert.js";
import { inUtc, messageOf } from "./message.js";
import { actionOf, keyOf } from "./paging.js";
import { testAlert } from "./test-alert.js";
import type { Sent, TemplateDestination, WebhookRequest } from "./webhook-request.js";

/**
 * A JSON body of the operator's own, for receivers such as Opsgenie. Placeholders stand within its strings. The
 * template is parsed, filled and written again, so no text of strangers can leave its string.
 */
export function formatTemplateAlert(to: TemplateDestination, alert: Alert, sent: Sent): WebhookRequest {
  const values = valuesOf(alert, sent);
  const isEnd = values.action === "resolve";
  const template = JSON.parse((isEnd ? to.endTemplate : null) ?? to.template) as Json;
  return {
    url: new URL((isEnd && to.endUrl !== null ? filledUrl(to.endUrl, values.key) : null) ?? to.url),
    headers: {
      "content-type": "application/json",
      "user-agent": sent.userAgent,
      ...(to.authorization !== null && { authorization: to.authorization }),
    },
    body: Buffer.from(JSON.stringify(filled(template, values))),
    secrets: secretsOf(to),
  };
}

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** By the names of the placeholders; docs/receiving.md has their meanings. */
type Values = ReturnType<typeof valuesOf>;

/** A value that an alert does not have is null. */
function valuesOf(alert: Alert, sent: Sent) {
  const { eventId, test, kind, at, venue } = alert;
  const { evidence, facts, notices } = messageOf(alert, sent.baseUrl);
  const incident = isAboutTransfer(alert) ? null : alert;
  const transfer = isAboutTransfer(alert) ? alert.transfer : null;
  const lines = [
    ...facts.map(({ name, value }) => [`${name}: `, ...value]),
    ...(evidence === null ? [] : [[evidence]]),
    ...notices.map(({ name, title, detail }) => [`${name}: `, title, ". ", ...detail]),
  ];
  return {
    ...{ eventId, test, kind, at },
    action: actionOf(alert),
    // an alias in addresses: many servers refuse an escaped slash
    key: keyOf(alert, sent).replaceAll("/", ":"),
    level: test ? "info" : incident?.severity === "outage" ? "critical" : "warning",
    headline: truncated(headline(alert), 600),
    details: lines
      .map((line) => line.map((part) => truncated(typeof part === "string" ? part : inUtc(part.at), 1000)).join(""))
      .join("\n"),
    evidence: evidence && truncated(evidence, 1000),
    permalink: permalinkOf(alert, sent.baseUrl),
    jsonUrl: jsonUrlOf(alert, sent.baseUrl),
    ...{ venue: venue.id, venueName: venue.name, category: venue.category },
    severity: incident && incident.severity,
    component: incident && incident.component.id,
    componentLabel: incident && incident.component.label,
    startedAt: incident ? incident.incident.startedAt : transfer!.pausedAt,
    endedAt: incident ? incident.incident.endedAt : transfer!.resumedAt,
    durationSeconds: incident && incident.incident.durationSeconds,
    asset: transfer && transfer.asset,
    network: transfer && truncated(transfer.networkName ?? transfer.venueNetwork ?? "", 255),
    direction: transfer && transfer.direction,
    because: transfer && truncated(transfer.because ?? "", 1000),
  };
}

export const placeholderNames = Object.keys(
  valuesOf(testAlert(new Date(0)), { at: new Date(0), deliveryId: 0, baseUrl: "", userAgent: "" }),
);

/** The name of a value, and the most characters that it may have. */
export const placeholder = /\{\{\s*(\w+)\s*(?::\s*(\d{1,5})\s*)?\}\}/g;

/** A string that is a placeholder and nothing else gets the value itself: a number stays a number. */
function filled(node: Json, values: Values): Json {
  if (typeof node === "string") {
    const [whole, name, limit] = new RegExp(placeholder.source).exec(node) ?? [];
    if (whole === node && limit === undefined) return values[name as keyof Values];
    return node.replace(placeholder, (_, name: keyof Values, limit?: string) => {
      const text = String(values[name] ?? "");
      return limit === undefined ? text : truncated(text, Number(limit));
    });
  }
  if (Array.isArray(node)) return node.map((one) => filled(one, values));
  if (node === null || typeof node !== "object") return node;
  return Object.fromEntries(Object.entries(node).map(([name, one]) => [name, filled(one, values)]));
}

/** In an address the key is the only placeholder. */
export function filledUrl(url: string, key: string): string {
  return url.replaceAll(/\{\{\s*key\s*\}\}/g, encodeURIComponent(key));
}

/** Texts of the template that may be keys: long, without blanks, and without placeholders. */
function secretsOf({ authorization, template, endTemplate }: TemplateDestination): string[] {
  const texts = [template, endTemplate].flatMap((one) => (one === null ? [] : stringsIn(JSON.parse(one) as Json)));
  return [
    ...(authorization === null ? [] : [authorization, ...authorization.split(" ").filter((part) => part.length >= 8)]),
    ...texts.filter((text) => text.length >= 16 && !/\s|\{\{/.test(text)),
  ];
}

export function stringsIn(node: Json): string[] {
  if (typeof node === "string") return [node];
  return node !== null && typeof node === "object" ? Object.values(node).flatMap(stringsIn) : [];
}
