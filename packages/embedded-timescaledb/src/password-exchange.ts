/**
 * The server's side of SCRAM-SHA-256 (RFC 5802, RFC 7677). The client proves that it knows the password, which is never
 * transmitted, and the server proves that it knows the verifier.
 */

import { randomBytes } from "node:crypto";

import { decoyVerifier, parseVerifier, proves, serverSignature } from "./scram.js";
import { ProtocolViolation } from "./wire-messages.js";

export const mechanism = "SCRAM-SHA-256";

export interface PasswordExchange {
  /**
   * Takes the client's first message and returns the challenge.
   *
   * @throws ProtocolViolation
   */
  challenge(clientFirst: string): string;
  /**
   * Takes the client's final message and returns the answer; null if the password is wrong.
   *
   * @throws ProtocolViolation
   */
  confirm(clientFinal: string): string | null;
}

/**
 * @param verifier as PostgreSQL stores it in pg_authid; null for a user who may not log in. The exchange of such a user
 * looks like any other and fails at the end, so that nobody learns which users exist
 * @param decoySecret challenges for unknown users derive from it. They look real if it stays the same as long as the
 * database exists
 */
export function startPasswordExchange(user: string, verifier: string | null, decoySecret: string): PasswordExchange {
  const known = verifier === null ? null : parseVerifier(verifier);
  const shown = known ?? decoyVerifier(user, decoySecret);
  let header = "";
  let signed = "";
  let nonce = "";

  return {
    challenge(clientFirst) {
      // n or y: no channel binding, which needs TLS. The user in n= is ignored, as in PostgreSQL: the start-up packet
      // named it.
      const found = /^([ny],,)(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]+))$/.exec(clientFirst);
      if (!found) throw unexpected("client-first-message");
      const [, gs2, bare, clientNonce] = found as unknown as string[];
      header = gs2!;
      nonce = `${clientNonce}${randomBytes(18).toString("base64")}`;
      const { salt, iterations } = shown;
      const challenge = `r=${nonce},s=${salt.toString("base64")},i=${iterations}`;
      signed = `${bare},${challenge}`;
      return challenge;
    },
    confirm(clientFinal) {
      const found = /^(c=([^,]+),r=([^,]+)),p=([^,]+)$/.exec(clientFinal);
      if (!found) throw unexpected("client-final-message");
      const [, withoutProof, binding, repeated, proof] = found as unknown as string[];
      if (binding !== Buffer.from(header).toString("base64") || repeated !== nonce)
        throw unexpected("client-final-message");
      const message = `${signed},${withoutProof}`;
      const isRight = proves(shown, message, Buffer.from(proof!, "base64"));
      if (known === null || !isRight) return null;
      return `v=${serverSignature(known, message).toString("base64")}`;
    },
  };
}

function unexpected(name: string): ProtocolViolation {
  return new ProtocolViolation(`expected a ${name} of ${mechanism}, got something else`);
}
