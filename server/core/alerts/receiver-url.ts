import { isIP } from "node:net";
import { isLocalhost, kindOfAddress, problemOfAddress } from "../../../shared/http/safe-address.js";

const longestUrl = 2000;

/**
 * Checks a receiver's URL without resolving its host. Any port is allowed: a request begins with a TLS handshake, which
 * no other protocol accepts.
 *
 * @returns what was expected and what came, showing only scheme and host of the URL; null where the URL is valid
 */
export function problemOfUrl(text: string, allowLoopback: boolean): string | null {
  if (text.length > longestUrl) return `expected a URL of at most ${longestUrl} characters, got ${text.length}`;
  if (!URL.canParse(text)) return "expected a URL such as https://example.com/alerts, got something else";
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return `expected a URL with https:, got ${url.protocol}`;
  const host = bareHostOf(url);
  if (url.username !== "" || url.password !== "")
    return `expected a URL without user and password, got one with them before ${host}`;
  if (host.endsWith(".")) return `expected a host without a dot at its end, got ${host}`;
  if (url.port === "0") return `expected a port from 1 to 65535, got ${host}:0`;
  return problemOfHost(host, allowLoopback) ?? problemOfScheme(url);
}

/**
 * Checks the URL of a server for outgoing e-mails: `smtps:` begins with TLS, `smtp:` changes to it. User and password
 * may stand in it, percent-encoded.
 *
 * @returns as `problemOfUrl` does
 */
export function problemOfMailUrl(text: string, allowLoopback: boolean): string | null {
  if (text.length > longestUrl) return `expected a URL of at most ${longestUrl} characters, got ${text.length}`;
  const [, scheme] = /^(smtps?):\/\/[^/]/.exec(text) ?? [];
  // only for schemes of the web does the parser check a host, and write it in one way
  const asWeb = text.replace(/^smtps?:/, "https:");
  if (scheme === undefined || !URL.canParse(asWeb) || !URL.canParse(text))
    return "expected a URL such as smtps://user:password@mail.example.com, got something else";
  const { username, password, pathname, search, hash } = new URL(asWeb);
  const host = bareHostOf(new URL(asWeb));
  if (!isDecodable(username) || !isDecodable(password))
    return `expected user and password percent-encoded, got a % before ${host} that encodes nothing`;
  if ((username === "") !== (password === ""))
    return `expected user and password, or neither, got one of them before ${host}`;
  if (pathname !== "/" || search !== "" || hash !== "")
    return `expected nothing after host and port, got more after ${host}`;
  if (new URL(text).port === "0") return `expected a port from 1 to 65535, got ${host}:0`;
  return problemOfMailHost(host, allowLoopback);
}

/** Why nothing may be sent to a server for e-mails; null where it is allowed. */
export function problemOfMailHost(host: string, allowLoopback: boolean): string | null {
  if (host.endsWith(".")) return `expected a host without a dot at its end, got ${host}`;
  return problemOfHost(host, allowLoopback);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether a host is known to be this machine without DNS. */
export function isThisMachine(host: string): boolean {
  return isLocalhost(host) || (isIP(host) !== 0 && kindOfAddress(host) === "loopback");
}

/** Without the brackets of IPv6. */
export function bareHostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

/**
 * Names that are not in public DNS: those of one word, reserved ones (RFC 6762, 7686, 8375), and usual private ones.
 */
const neverPublic = /^[^.]+$|\.(local|onion|internal|intranet|lan|home|corp|private|arpa|svc)$/;

function problemOfHost(host: string, allowLoopback: boolean): string | null {
  if (isIP(host) !== 0) return problemOfAddress(host, allowLoopback);
  if (isLocalhost(host)) return allowLoopback ? null : `${host} is loopback`;
  return neverPublic.test(host) ? `${host} is not a public name: public DNS has no such names` : null;
}

/** For an allowed host. http is allowed only to a host that is known to be this machine without DNS. */
function problemOfScheme(url: URL): string | null {
  if (url.protocol === "https:") return null;
  const host = bareHostOf(url);
  return isThisMachine(host) ? null : `expected a URL with https:, got http: to ${host}`;
}
