import { isIP, connect as netConnect, type LookupFunction } from "node:net";
import type { Socket } from "node:net";
import { connect as tlsConnect, type TLSSocket } from "node:tls";

/** How far a connection came; once it stands, `exchange`. */
export type Phase = "dns" | "connect" | "tls" | "exchange";

export interface Connection {
  socket: Socket;
  /** Where the connection is now: it tells what an error means. */
  phase: Phase;
  dnsUs: number | null;
  connectUs: number | null;
  tlsUs: number | null;
  /** Of the certificate that the server showed, a refused one included; null where it came to none. */
  certificateExpiresAt: Date | null;
}

export interface ConnectionOptions {
  host: string;
  port: number;
  secure: boolean;
  /** Name to address; the system's resolver when not given. */
  lookup?: LookupFunction;
  /** PEM: the authorities to trust; those of Node when not given. */
  ca?: string;
}

/**
 * Node's 250 ms between the addresses of a name would give up a good address that is far away, and book the time on the
 * venue.
 */
const nextAddressAfterMs = 1000;

/**
 * Opens a TCP or TLS connection and times its phases. Errors are the socket's.
 *
 * Each one is what a newcomer meets: the name is looked up, and the handshake is a full one, since no session of an
 * earlier one is kept.
 */
export function openConnection(options: ConnectionOptions): Connection {
  const { host, secure } = options;
  const socket = secure ? openTls(options) : netConnect(netOptions(options));
  const connection: Connection = {
    socket,
    phase: isIP(host) ? "connect" : "dns",
    dnsUs: null,
    connectUs: null,
    tlsUs: null,
    certificateExpiresAt: null,
  };
  let phaseBegunMs = performance.now();

  function endPhase(next: Phase): number {
    const nowMs = performance.now();
    const tookUs = Math.round((nowMs - phaseBegunMs) * 1000);
    phaseBegunMs = nowMs;
    connection.phase = next;
    return tookUs;
  }

  socket.setNoDelay(true);
  socket.on("lookup", (error: Error | null) => {
    // With several addresses the event comes once for each.
    if (!error && connection.phase === "dns") connection.dnsUs = endPhase("connect");
  });
  socket.once("connect", () => {
    connection.connectUs = endPhase(secure ? "tls" : "exchange");
  });
  // Node tells it before it judges the certificate; once it has refused one, there is none to be had.
  socket.prependOnceListener("secure", () => {
    connection.certificateExpiresAt = expiryOf(socket as TLSSocket);
  });
  socket.once("secureConnect", () => {
    connection.tlsUs = endPhase("exchange");
  });
  return connection;
}

/** Not by `getPeerX509Certificate`: asked so early, it makes Node 20 judge the certificate as one without names. */
function expiryOf(socket: TLSSocket): Date | null {
  // Null where the connection has gone, and empty where there is none, both beside what the types say.
  const certificate = socket.getPeerCertificate() as {
    valid_to?: string;
  } | null;
  const expiresAt = new Date(certificate?.valid_to ?? NaN);
  return Number.isNaN(+expiresAt) ? null : expiresAt;
}

function openTls(options: ConnectionOptions): Socket {
  return tlsConnect({
    ...netOptions(options),
    servername: isIP(options.host) ? "" : options.host,
    ALPNProtocols: ["http/1.1"],
    ...(options.ca !== undefined && { ca: options.ca }),
  });
}

function netOptions({ host, port, lookup }: ConnectionOptions) {
  return {
    host,
    port,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
    ...(lookup && { lookup }),
  };
}
