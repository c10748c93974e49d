import { createHmac } from "node:crypto";
import { bytesOfSecret } from "../sealing.js";
import { type Alert, isAboutTransfer, jsonUrlOf, permalinkOf } from "./alert.js";
import type { NativeDestination, Sent, WebhookRequest } from "./webhook-request.js";

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
  const links = { permalink: permalinkOf(alert, baseUrl), jsonUrl: jsonUrlOf(alert, baseUrl) };
  if (isAboutTransfer(alert)) {
    const { eventId, test, kind, at, transfer, venue } = alert;
    return { eventId, test, kind, at, ...links, transfer, venue };
  }
  const { eventId, test, kind, severity, at, incident, venue, component, evidence } = alert;
  return { eventId, test, kind, severity, at, ...links, incident, venue, component, evidence };
}

/**
 * Value of `x-svc-signature`: `t=<unix seconds>,v1=<hex>`, HMAC-SHA256 over `<t>.<raw body>`, a v1 for each secret. The
 * key is the secret as shown, including its prefix, so `openssl dgst -sha256 -hmac "$SECRET"` computes the same.
 */
export function svcSignature(secrets: readonly string[], unixSeconds: number, body: Buffer): string {
  const signatures = secrets.map((secret) =>
    createHmac("sha256", secret).update(`${unixSeconds}.`).update(body).digest("hex"),
  );
  return [`t=${unixSeconds}`, ...signatures.map((hex) => `v1=${hex}`)].join();
}

/**
 * Value of `webhook-signature` of Standard Webhooks: `v1,<base64>`, HMAC-SHA256 over `<id>.<unix seconds>.<raw body>`,
 * one for each secret, separated by spaces. The key is the decoded bytes of the secret.
 *
 * @param id without a full stop, which separates the signed parts
 */
export function standardSignature(secrets: readonly string[], id: string, unixSeconds: number, body: Buffer): string {
  const signatures = secrets.map((secret) =>
    createHmac("sha256", bytesOfSecret(secret)).update(`${id}.${unixSeconds}.`).update(body).digest("base64"),
  );
  return signatures.map((base64) => `v1,${base64}`).join(" ");
}
