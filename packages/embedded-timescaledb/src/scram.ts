/**
 * The verifier that a PostgreSQL server stores instead of a password (RFC 5802, RFC 7677). It suffices to check whether
 * a client knows the password, and does not contain it.
 */

import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from "node:crypto";

/** The server's own default. */
const iterations = 4096;

export interface Verifier {
  iterations: number;
  salt: Buffer;
  storedKey: Buffer;
  serverKey: Buffer;
}

/**
 * Computed here, so that the server never sees the password: the statements in its log do not contain it.
 *
 * @param password printable ASCII, which SASLprep does not change
 */
export function scramVerifier(password: string, salt = randomBytes(16)): string {
  const { storedKey, serverKey } = keysOf(password, salt, iterations);
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${storedKey.toString("base64")}:${serverKey.toString("base64")}`;
}

/** Null if the text is another kind of verifier, such as the older md5. */
export function parseVerifier(text: string): Verifier | null {
  const found = /^SCRAM-SHA-256\$(\d+):([^$:]+)\$([^$:]+):([^$:]+)$/.exec(text);
  if (!found) return null;
  const [salt, storedKey, serverKey] = found.slice(2).map((part) => Buffer.from(part, "base64")) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  return { iterations: Number(found[1]), salt, storedKey, serverKey };
}

export function isPasswordOf(verifier: string, password: string): boolean {
  const known = parseVerifier(verifier);
  if (!known) return false;
  const { storedKey } = keysOf(password, known.salt, known.iterations);
  return equal(storedKey, known.storedKey);
}

/** Whether the client's proof was made with the password. */
export function proves({ storedKey }: Verifier, message: string, proof: Buffer): boolean {
  const signature = keyed(storedKey, message);
  if (proof.length !== signature.length) return false;
  const clientKey = Buffer.from(proof.map((byte, i) => byte ^ signature[i]!));
  return equal(hashed(clientKey), storedKey);
}

/** The server's proof that it knows the verifier. */
export function serverSignature({ serverKey }: Verifier, message: string): Buffer {
  return keyed(serverKey, message);
}

/**
 * A verifier that matches no password. Like a real one, it stays the same for a user, as long as the secret does.
 *
 * @param secret unknown to everybody who may try to log in
 */
export function decoyVerifier(user: string, secret: string): Verifier {
  const key = hashed(Buffer.from(`decoys ${secret}`));
  const [salt, storedKey, serverKey] = ["salt", "stored", "server"].map((part) => keyed(key, `${part} ${user}`)) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  return { iterations, salt: salt.subarray(0, 16), storedKey, serverKey };
}

function keysOf(password: string, salt: Buffer, rounds: number) {
  const salted = pbkdf2Sync(password, salt, rounds, 32, "sha256");
  return {
    storedKey: hashed(keyed(salted, "Client Key")),
    serverKey: keyed(salted, "Server Key"),
  };
}

function hashed(key: Buffer): Buffer {
  return createHash("sha256").update(key).digest();
}

function keyed(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function equal(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
