import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { UserError } from "../../../shared/process/user-error.js";

/** Encrypts the secrets of channels, so that a copy of the database alone does not reveal them. */
export interface Sealing {
  /** The first bytes of every ciphertext that `open` can decrypt. */
  head: Buffer;
  /** @param of what the text is, like "destination"; `open` must be given the same */
  seal: (text: string, of: string) => Buffer;
  /**
   * @throws UserError when it was encrypted with another key, or by a newer build
   * @throws Error when it is damaged, or was encrypted as something else
   */
  open: (sealed: Buffer, of: string) => string;
}

/** Layout: version, id of the key, nonce, tag, ciphertext. */
const sealVersion = 1;
const keyBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + keyBytes;

/**
 * AES-256-GCM with a random nonce: a key encrypts a few thousand secrets in its lifetime, so a repeated nonce is
 * practically impossible.
 *
 * @param key 32 bytes
 */
export function makeSealing(key: Buffer): Sealing {
  // distinguishes a wrong key from a damaged text, and reveals nothing about the key
  const mark = createHmac("sha256", key).update("venuewatch: which key").digest().subarray(0, keyBytes);
  const head = Buffer.concat([Buffer.of(sealVersion), mark]);

  return {
    head,

    seal(text, of) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      cipher.setAAD(Buffer.concat([head, Buffer.from(of)]));
      const hidden = [cipher.update(text, "utf8"), cipher.final()];
      return Buffer.concat([head, nonce, cipher.getAuthTag(), ...hidden]);
    },

    open(sealed, of) {
      if (sealed[0] !== sealVersion)
        throw new UserError(
          `the ${of} was encrypted by a newer build (format ${sealed[0]}, this build knows ${sealVersion}); run that build`,
        );
      if (!sealed.subarray(1, headBytes).equals(mark))
        throw new UserError(`the ${of} was encrypted with another CHANNEL_KEY; set that one`);
      const tagAt = headBytes + nonceBytes;
      const textAt = tagAt + tagBytes;
      const cipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(headBytes, tagAt));
      cipher.setAAD(Buffer.concat([head, Buffer.from(of)]));
      try {
        cipher.setAuthTag(sealed.subarray(tagAt, textAt));
        const shown = [cipher.update(sealed.subarray(textAt)), cipher.final()];
        return Buffer.concat(shown).toString("utf8");
      } catch (error) {
        throw new Error(`the encrypted ${of} is damaged, or was encrypted as something else`, {
          cause: error,
        });
      }
    },
  };
}

const secretPrefix = "whsec_";

/** A new signing secret in the format of Standard Webhooks, whose libraries accept it as it is shown. */
export function makeSigningSecret(): string {
  return secretPrefix + randomBytes(32).toString("base64");
}

/** @throws Error when it is not a signing secret */
export function bytesOfSecret(secret: string): Buffer {
  if (!secret.startsWith(secretPrefix)) throw new Error(`expected a signing secret, which begins with ${secretPrefix}`);
  return Buffer.from(secret.slice(secretPrefix.length), "base64");
}
