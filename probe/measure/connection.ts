import { connect as netConnect, isIP, type Socket, type LookupFunction } from "node:net";
import { connect as tlsConnect, type TLSSocket } from "node:tls";

export interface ConnectionOptions {
  host: string;
  port: number;
  secure: boolean;
  /** Resolves names; default: the system's resolver. */
  lookup?: LookupFunction;
  /** Trusted authorities, as PEM; default: those of Node. */
  ca?: string;
}

/** How far a connection has come; `exchange` once it is established. */
export type Phase = "dns" | "connect" | "tls" | "exchange";

export interface Connection {
  socket: Socket;
  /** The current phase, which determines what an error means. */
  phase: Phase;
  dnsUs: number | null;
  connectUs: number | null;
  tlsUs: number | null;
  /** Expiry of the certificate that the server presented, including a refused one; null if it presented none. */
  certificateExpiresAt: Date | null;
}

/**
 * With Node's default of 250 ms per address of a name, a good address that is far away would be given up, and the time
 * would be charged to the venue.
 */
const nextAddressAfterMs = 1000;

/**
 * Opens a TCP or TLS connection and times its phases. Errors are emitted by the socket.
 *
 * Each connection is what a new client experiences: the name is looked up, and the TLS handshake is a full one, because
 * no sessions are kept.
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
    // With several addresses the event is emitted once for each.
    if (!error && connection.phase === "dns") connection.dnsUs = endPhase("connect");
  });
  socket.once("connect", () => {
    connection.connectUs = endPhase(secure ? "tls" : "exchange");
  });
  // `secure` is emitted before Node verifies the certificate. After Node has refused one, it can no longer be read.
  socket.prependOnceListener("secure", () => {
    connection.certificateExpiresAt = expiryOf(socket as TLSSocket);
  });
  socket.once("secureConnect", () => {
    connection.tlsUs = endPhase("exchange");
  });
  return connection;
}

/**
 * Does not use `getPeerX509Certificate`: called this early, it makes Node 20 treat the certificate as one without
 * names.
 */
function expiryOf(socket: TLSSocket): Date | null {
  // Contrary to the types, the result is null if the connection is gone, and empty if there is no certificate.
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
