import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * Whether this body was signed with this secret within 300 seconds of `now`. Pass the raw bytes, before parsing.
 */
export function isSigned(
  body: Uint8Array,
  header: string | string[] | undefined,
  secret: string,
  now = new Date(),
): boolean {
  if (!secret.startsWith("whsec_")) throw new Error("expected the channel's secret, which begins with whsec_");
  const [time = "", ...signatures] = String(header).split(",");
  const seconds = /^t=(\d{1,12})$/.exec(time)?.[1];
  if (seconds === undefined) return false;
  if (Math.abs(now.getTime() / 1000 - Number(seconds)) > 300) return false;
  const hmac = createHmac("sha256", secret).update(`${seconds}.`).update(body);
  const right = Buffer.from(`v1=${hmac.digest("hex")}`);
  // there are several while a secret is rotated: one valid signature is enough
  return signatures.some((signature) => {
    const given = Buffer.from(signature);
    return given.length === right.length && timingSafeEqual(given, right);
  });
}
