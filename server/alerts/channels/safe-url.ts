import { isIP } from "node:net";
import { isLocalhost, kindOfAddress, problemOfAddress } from "../../http/safe-address.js";

const longestUrl = 2000;

/**
 * Judges a receiver's URL by what it says, without asking for the addresses of its host. Any port is allowed: what is
 * sent begins with a TLS handshake, which no other protocol takes for its own.
 *
 * @returns what was expected and what came, with nothing of the URL but scheme and host; null where it is good
 */
export function problemOfUrl(text: string, allowLoopback: boolean): string | null {
  if (text.length > longestUrl) return `expected a URL of at most ${longestUrl} characters, got ${text.length}`;
  if (!URL.canParse(text)) return "expected a URL such as https://example.com/alerts, got something else";
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return `expected a URL with https:, got ${url.protocol}`;
  const host = hostOf(url);
  if (url.username !== "" || url.password !== "")
    return `expected a URL without user and password, got some before ${host}`;
  if (host.endsWith(".")) return `expected a host without a dot at its end, got ${host}`;
  if (url.port === "0") return `expected a port that exists, got ${host}:0`;
  return problemOfHost(host, allowLoopback) ?? problemOfScheme(url);
}

/** Without the brackets of IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

/** Reserved: no name server of the Internet knows them (RFC 6762, RFC 7686), and .internal never will be given out. */
const neverPublic = /\.(local|onion|internal)$/;

function problemOfHost(host: string, allowLoopback: boolean): string | null {
  if (isIP(host) !== 0) return problemOfAddress(host, allowLoopback);
  if (isLocalhost(host)) return allowLoopback ? null : `${host} is loopback`;
  return neverPublic.test(host) ? `${host} is no public name: no name server of the Internet has such names` : null;
}

/** Of a host that may be sent to. By http only to one of which it needs no name server to know that it is here. */
function problemOfScheme(url: URL): string | null {
  if (url.protocol === "https:") return null;
  const host = hostOf(url);
  const isHere = isLocalhost(host) || (isIP(host) !== 0 && kindOfAddress(host) === "loopback");
  return isHere ? null : `expected a URL with https:, got http: to ${host}`;
}
