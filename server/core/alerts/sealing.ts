import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { UserError } from "../../../shared/process/user-error.js";
import type { Format, ServiceRegion, Destination } from "./formats/webhook-request.js";
import { problemOfUrl } from "./receiver-url.js";

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

/** The URL of a receiver, or the routing key of a paging service. */
export interface Credential {
  /** Secret: it is all that is needed to post there. */
  text: string;
  /** The part that may be shown. */
  shownAs: string;
}

/** @throws UserError with what was expected and what came; it does not contain the credential */
export function credentialOf(format: Format, text: string, allowLoopback: boolean): Credential {
  return format === "paging" ? keyOf(text) : urlOf(text, allowLoopback);
}

function keyOf(text: string): Credential {
  if (!/^[!-~]{32}$/.test(text))
    throw new UserError(
      `expected a routing key of 32 characters, got ${text.length === 32 ? "one with other than visible ASCII characters" : text.length}; the paging service shows it with the integration "Events API v2"`,
    );
  return { text, shownAs: `…${text.slice(-4)}` };
}

function urlOf(text: string, allowLoopback: boolean): Credential {
  const problem = problemOfUrl(text, allowLoopback);
  if (problem !== null) throw new UserError(problem);
  const { origin, pathname, search } = new URL(text);
  const path = pathname + search;
  // four characters of a short one would give away too much
  const end = path.length < 12 ? "" : path.slice(-4);
  return { text, shownAs: `${origin}/…${end}` };
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

/** Columns of a channel that was not removed, as queries such as channel_destination.sql return them. */
export interface SealedDestination {
  format: Format;
  /** Set for the paging format. */
  service_region: ServiceRegion | null;
  destination: Buffer;
  /** Set for the native format. */
  secret: Buffer | null;
  /** Null once its overlap is over. */
  former_secret: Buffer | null;
}

/** @throws UserError when it was encrypted with another key */
export function openDestination(sealed: SealedDestination, sealing: Sealing): Destination {
  const text = sealing.open(sealed.destination, "destination");
  const secrets = [sealed.secret, sealed.former_secret].flatMap((secret) =>
    secret === null ? [] : sealing.open(secret, "secret"),
  );
  switch (sealed.format) {
    case "native":
      return { format: "native", url: text, secrets };
    case "chat":
      return { format: "chat", url: text };
    case "paging":
      return {
        format: "paging",
        serviceRegion: sealed.service_region!,
        routingKey: text,
      };
  }
}
