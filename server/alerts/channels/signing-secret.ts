import { randomBytes } from "node:crypto";

const prefix = "whsec_";

/** What a channel signs with, in the form of Standard Webhooks: their libraries take it as it is shown. */
export function makeSigningSecret(): string {
  return prefix + randomBytes(32).toString("base64");
}

/** @throws Error where it is none */
export function bytesOfSecret(secret: string): Buffer {
  if (!secret.startsWith(prefix)) throw new Error(`expected a signing secret, which begins with ${prefix}`);
  return Buffer.from(secret.slice(prefix.length), "base64");
}
