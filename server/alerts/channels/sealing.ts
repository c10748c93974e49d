import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { UserError } from "../../../shared/process/user-error.js";

/** Keeps what is secret so that the database alone does not give it away. */
export interface Sealing {
  /** How all begins that it can open. */
  head: Buffer;
  /** @param of what it is, like "destination"; it opens as that only */
  seal: (text: string, of: string) => Buffer;
  /**
   * @throws UserError when it was sealed with another key, or by a newer build
   * @throws Error when it was damaged, or sealed as something else
   */
  open: (sealed: Buffer, of: string) => string;
}

/** version, which key, nonce, tag, and then the ciphertext */
const version = 1;
const keyBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + keyBytes;

/**
 * AES-256-GCM. The nonce is random: at the few thousand secrets of a lifetime, two that are alike are out of the
 * question.
 *
 * @param key 32 bytes
 */
export function makeSealing(key: Buffer): Sealing {
  // tells a wrong key from a damaged text, and says nothing about the key
  const mark = createHmac("sha256", key).update("venuewatch: which key").digest().subarray(0, keyBytes);
  const head = Buffer.concat([Buffer.of(version), mark]);

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
      if (sealed[0] !== version)
        throw new UserError(
          `the ${of} was encrypted by a newer build (form ${sealed[0]}, this one knows ${version}): run that one`,
        );
      if (!sealed.subarray(1, headBytes).equals(mark))
        throw new UserError(
          `the ${of} cannot be read with this CHANNEL_KEY; it was encrypted with another: set that one`,
        );
      const tagAt = headBytes + nonceBytes;
      const textAt = tagAt + tagBytes;
      const cipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(headBytes, tagAt));
      cipher.setAAD(Buffer.concat([head, Buffer.from(of)]));
      try {
        cipher.setAuthTag(sealed.subarray(tagAt, textAt));
        const shown = [cipher.update(sealed.subarray(textAt)), cipher.final()];
        return Buffer.concat(shown).toString("utf8");
      } catch (error) {
        throw new Error(`the encrypted ${of} is damaged, or is none`, {
          cause: error,
        });
      }
    },
  };
}
