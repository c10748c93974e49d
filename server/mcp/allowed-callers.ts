/**
 * Which requests of browsers are answered, as the protocol requires against DNS rebinding. It keeps pages of strangers
 * from asking in the name of their readers. It hides no data: /v1 gives the same to any page. Behind a proxy that
 * passes on a client's own X-Forwarded-Host, only the origin protects.
 */
import { isIP } from "node:net";

export interface AllowedCallers {
  /** Null if the host is ours; else what is wrong with it. */
  faultOfHost: (hostname: string | undefined) => string | null;
  /** Null if there is no such header, as from programs, or the page is ours; else what is wrong with it. */
  faultOfOrigin: (origin: string | undefined) => string | null;
}

/** @param baseUrl the public address of the service */
export function allowedCallers(baseUrl: string): AllowedCallers {
  const ours = plainHost(new URL(baseUrl).hostname);
  return {
    faultOfHost(hostname = "") {
      const host = plainHost(hostname);
      // an address cannot be rebound: only a name can
      if (host === ours || isLoopback(host) || isIP(host) !== 0) return null;
      return `expected the host ${ours}, an IP address or localhost; set BASE_URL to the address of the service`;
    },
    faultOfOrigin(origin) {
      if (origin === undefined) return null;
      const host = URL.canParse(origin) ? plainHost(new URL(origin).hostname) : "";
      if (host !== "" && (host === ours || isLoopback(host))) return null;
      return `expected no Origin, or one on ${ours} or localhost: pages of other sites can read the API at /v1`;
    },
  };
}

/** Without the brackets of IPv6 and the dot at the end, in small letters. */
function plainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
