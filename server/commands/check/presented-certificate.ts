import { isIP, type LookupFunction } from "node:net";
import { connect, type PeerCertificate, type TLSSocket } from "node:tls";
import { plainText } from "../../notices/sanitize-text.js";
import type { RefusedCertificate } from "./evidence.js";

/**
 * The certificate that a server presents, if this machine refuses it. The handshake is completed so that it can be
 * read; nothing is sent.
 *
 * @returns null if it is accepted, or none was presented in time
 */
export function refusedCertificate(
  address: URL,
  lookup: LookupFunction,
  withinMs: number,
): Promise<RefusedCertificate | null> {
  const { hostname: host, port } = address;
  return new Promise((resolve) => {
    const socket = connect({
      ...{ host, port: Number(port) || 443, lookup, servername: isIP(host) ? "" : host },
      // only to read it
      rejectUnauthorized: false,
    });
    const timer = setTimeout(() => end(null), withinMs);
    // without a handshake there is no certificate
    socket.on("error", () => end(null));
    socket.once("secureConnect", () => end(refusalOf(socket, host)));

    function end(refused: RefusedCertificate | null) {
      clearTimeout(timer);
      socket.destroy();
      resolve(refused);
    }
  });
}

function refusalOf(socket: TLSSocket, host: string): RefusedCertificate | null {
  if (socket.authorized) return null;
  // contrary to the types, it is empty if there is no certificate
  const { issuer, valid_from: from, valid_to: until } = socket.getPeerCertificate() as Partial<PeerCertificate>;
  if (issuer === undefined || from === undefined || until === undefined) return null;
  // contrary to the types, the code of the verification, or the error of the check of names
  const error = socket.authorizationError as unknown as string | NodeJS.ErrnoException;
  const code = typeof error === "string" ? error : (error.code ?? "refused");
  const name = [issuer.CN, issuer.O].find((part) => part !== undefined);
  const validFrom = new Date(from);
  const validUntil = new Date(until);
  return { host, code: plainText(code, 60), issuer: plainText(String(name ?? "no name"), 100), validFrom, validUntil };
}
