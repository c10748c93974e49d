import { createHash, createHmac, pbkdf2Sync } from "node:crypto";

export interface Changes {
  binding?: string;
  nonce?: string;
  proof?: (right: Buffer) => Buffer;
}

/** Returns the client's last message of SCRAM-SHA-256 (RFC 5802), made wrong by changes. `bare` is the first one. */
export function finalMessage(
  password: string,
  bare: string,
  challenge: string,
  { binding = "biws", nonce = "", proof = (right) => right }: Changes = {},
): string {
  const [, given, salt, rounds] = /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(challenge) ?? [];
  const salted = pbkdf2Sync(password, Buffer.from(salt!, "base64"), ...([Number(rounds), 32, "sha256"] as const));
  const keyed = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const clientKey = keyed(salted, "Client Key");
  const storedKey = createHash("sha256").update(clientKey).digest();
  const withoutProof = `c=${binding},r=${nonce || given}`;
  const signature = keyed(storedKey, `${bare},${challenge},${withoutProof}`);
  const right = Buffer.from(clientKey.map((byte, i) => byte ^ signature[i]!));
  return `${withoutProof},p=${proof(right).toString("base64")}`;
}
