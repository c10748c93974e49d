import { createHmac } from "node:crypto";
import { bytesOfSecret } from "../channels/signing-secret.js";

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
