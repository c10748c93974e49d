/** What a PostgreSQL server keeps of a password (RFC 5802, RFC 7677): enough to know who knows it, and not the password. */

import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";

/** As many as the server itself takes by default. */
const iterations = 4096;

/**
 * Made here, so that the server never sees the password: what it logs of statements is of no use to who reads it.
 *
 * @param password printable ASCII, which SASLprep leaves as it is
 */
export function scramVerifier(
  password: string,
  salt = randomBytes(16),
): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
  const stored = createHash("sha256").update(keyed(salted, "Client Key"));
  const server = keyed(salted, "Server Key");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored.digest("base64")}:${server.toString("base64")}`;
}

function keyed(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
