import { isIPv6 } from "node:net";

/** Reached from this machine alone. */
export const loopback = "127.0.0.1";

/** Where a server that listens on `host` is reached from this machine, as a URL without a path. */
export function addressOf(host: string, port: number): string {
  const isLocalhost = [loopback, "0.0.0.0", "::"].includes(host);
  const name = isLocalhost ? "localhost" : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
