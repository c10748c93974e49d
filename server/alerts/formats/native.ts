import type { Alert } from "./alert.js";
import type { WebhookRequest, NativeDestination, Sent } from "./webhook-request.js";
import { jsonUrlOf, permalinkOf } from "./permalink.js";
import { standardSignature, svcSignature } from "./signature.js";

/** The alert as JSON with two signatures: the contract's, and that of Standard Webhooks for its libraries. */
export function formatNativeAlert({ url, secrets }: NativeDestination, alert: Alert, sent: Sent): WebhookRequest {
  const body = Buffer.from(JSON.stringify(nativeBody(alert, sent.baseUrl)));
  const id = alert.test ? `test_${sent.deliveryId}` : `evt_${alert.eventId}`;
  const unixSeconds = Math.floor(sent.at.getTime() / 1000);
  return {
    url: new URL(url),
    headers: {
      "content-type": "application/json",
      "user-agent": sent.userAgent,
      "x-svc-signature": svcSignature(secrets, unixSeconds, body),
      "webhook-id": id,
      "webhook-timestamp": String(unixSeconds),
      "webhook-signature": standardSignature(secrets, id, unixSeconds, body),
    },
    body,
  };
}

/** In the documented order. */
function nativeBody(alert: Alert, baseUrl: string) {
  const { eventId, test, kind, severity, at, ...about } = alert;
  const { incident, venue, component, evidence } = about;
  return {
    eventId,
    test,
    kind,
    severity,
    at,
    permalink: permalinkOf(alert, baseUrl),
    jsonUrl: jsonUrlOf(alert, baseUrl),
    incident,
    venue,
    component,
    evidence,
  };
}
