/** Hand-made alerts, and a check that a sent body is what the API describes. */
import { Ajv2020 } from "ajv/dist/2020.js";
import {
  type Alert,
  type IncidentAlert,
  isAboutTransfer,
  type TransferAlert,
} from "../../server/core/alerts/formats/alert.js";
import type { Sent } from "../../server/core/alerts/formats/webhook-request.js";
import { testAlert } from "../../server/core/alerts/formats/test-alert.js";
import { packagedFile } from "../../shared/config/package.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { documentOf } from "./api.js";
import { closed } from "./closed-schema.js";

/** An opening alert of an outage of Kraken's ticker, with every optional value set. */
export function openedAlert(): IncidentAlert {
  const { incident, evidence } = testAlert(new Date("2026-01-31T11:41:20Z"));
  return {
    ...{ eventId: 8123, test: false, kind: "opened", severity: "outage" },
    at: "2026-01-31T11:41:20.000Z",
    incident: {
      ...incident,
      ...{ id: 4711, slug: "kraken-2026-01-31-rest-outage", venue: "kraken" },
      official: {
        ...{ id: "x1b2c3", title: "Degraded REST API", kind: "incident", url: "https://stspg.io/x1b2c3" },
        ...{ status: "investigating", impact: "major", resolvedAt: null },
        ...{ startedAt: "2026-01-31T11:40:00.000Z", postedAt: "2026-01-31T11:41:00.000Z" },
        ...{ firstSeenAt: "2026-01-31T11:41:10.000Z", lastSeenAt: "2026-01-31T11:41:10.000Z" },
        ...{ vanished: false, timesDoubtful: false, subjectMatched: false },
        aheadUncorrelated: -20,
      },
      officialObserved: true,
      maintenance: null,
    },
    venue: { id: "kraken", name: "Kraken", category: "exchange", symbol: "BTC/USD", quote: "USD" },
    component: {
      ...{ id: "rest:ticker", kind: "rest", label: "Ticker" },
      target: "https://api.kraken.com/0/public/Ticker?pair=XBTUSD",
    },
    evidence,
  };
}

export function closedAlert(): IncidentAlert {
  const opened = openedAlert();
  const closedAt = "2026-01-31T12:00:00.000Z";
  return {
    ...opened,
    ...{ eventId: 8125, kind: "closed", at: closedAt },
    incident: {
      ...opened.incident,
      ...{ status: "closed", closedAt, durationSeconds: 1074 },
      endedAt: "2026-01-31T11:59:00.000Z",
    },
  };
}

/** A pause of withdrawals at Kraken. */
export function pausedAlert(): TransferAlert {
  return {
    ...{ eventId: 8124, test: false, kind: "transfer_paused", at: "2026-01-31T09:20:00.000Z" },
    transfer: {
      ...{ asset: "USDT", network: "tron", networkName: "Tron", venueNetwork: "TRX" },
      ...{ direction: "withdrawal", state: "paused", because: "Delayed sends" },
      ...{ pausedAt: "2026-01-31T09:10:00.000Z", resumedAt: null },
    },
    venue: openedAlert().venue,
  };
}

export function resumedAlert(): TransferAlert {
  const paused = pausedAlert();
  const resumedAt = "2026-01-31T11:00:00.000Z";
  return {
    ...paused,
    ...{ eventId: 8130, kind: "transfer_resumed", at: resumedAt },
    transfer: { ...paused.transfer, state: "open", because: null, resumedAt },
  };
}

/** Returns the alert with this text in every field that others write. */
export function alertSaying(text: string, alert: Alert): Alert {
  if (isAboutTransfer(alert)) {
    const said = { networkName: text, venueNetwork: text, because: text };
    return { ...alert, transfer: { ...alert.transfer, ...said }, venue: { ...alert.venue, name: text } };
  }
  const { incident, venue, component, evidence } = alert;
  const official = incident.official && {
    ...incident.official,
    ...{ id: text, title: text, url: text, status: text, impact: text },
    startedAt: text,
  };
  return {
    ...alert,
    incident: { ...incident, label: text, official },
    venue: { ...venue, name: text, symbol: text, quote: text },
    component: { ...component, label: text, target: text },
    evidence: evidence && { ...evidence, summary: text },
  };
}

export const sent: Sent = {
  at: new Date("2026-01-31T11:41:21.700Z"),
  deliveryId: 77,
  baseUrl: "https://api.example.org",
  userAgent: "venuewatch/0.0.0 (+https://example.org)",
};

/** Returns why a native body does not match `/openapi.json`; null where it matches and has no other fields. */
export async function misfitOf(body: unknown, schema: "Alert" | "TransferAlert" = "Alert"): Promise<string | null> {
  const registry = await loadRegistry(packagedFile("registry/all.json"));
  const ajv = new Ajv2020({
    ...{ allErrors: true, strictSchema: false },
    formats: { "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ },
  });
  ajv.addSchema(closed(documentOf({ registry })), "openapi.json");
  const $ref = `openapi.json#/components/schemas/${schema}`;
  const fits = ajv.validate({ $ref }, body);
  return fits ? null : ajv.errorsText();
}
