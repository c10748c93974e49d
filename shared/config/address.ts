import { isIPv6 } from "node:net";

/** Reachable only from this machine. */
export const loopback = "127.0.0.1";

/** The URL, without a path, by which this machine reaches a server that listens on `host`. */
export function addressOf(host: string, port: number): string {
  const isLocalhost = [loopback, "0.0.0.0", "::"].includes(host);
  const name = isLocalhost ? "localhost" : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
