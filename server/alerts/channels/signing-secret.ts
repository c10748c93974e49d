import { randomBytes } from "node:crypto";

const prefix = "whsec_";

/** A new signing secret in the format of Standard Webhooks, whose libraries accept it as it is shown. */
export function makeSigningSecret(): string {
  return prefix + randomBytes(32).toString("base64");
}

/** @throws Error when it is not a signing secret */
export function bytesOfSecret(secret: string): Buffer {
  if (!secret.startsWith(prefix)) throw new Error(`expected a signing secret, which begins with ${prefix}`);
  return Buffer.from(secret.slice(prefix.length), "base64");
}
