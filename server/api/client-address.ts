import { isIP, isIPv6 } from "node:net";
import type { IncomingMessage } from "node:http";

/**
 * The IP address of the client: the socket's, or behind proxies that `TRUST_PROXY` names the last one in
 * `X-Forwarded-For` that is no such proxy. Where that is no address, it is the socket's again: a client could make up
 * another text for each request.
 *
 * Cuts the ports off that header, which Azure's gateway and others write: a port is another one for each connection. In
 * the header itself, because Express compares its entries with `TRUST_PROXY`, and an entry with a port equals none.
 *
 * @param ipOf the address as Express finds it, by the header as it is then
 */
export function clientAddress(request: IncomingMessage, ipOf: () => string | undefined): string {
  const header = "x-forwarded-for";
  const forwarded = request.headers[header];
  // Express would find the same, and take longer than the rest of an answer that is made already
  if (forwarded === undefined) return request.socket.remoteAddress ?? "";
  if (typeof forwarded === "string") request.headers[header] = forwarded.split(",").map(withoutPort).join(", ");
  const ip = ipOf();
  return ip !== undefined && isIP(ip) !== 0 ? ip : (request.socket.remoteAddress ?? "");
}

/** Of `192.0.2.1:5678`, `[2001:db8::1]:5678` and `[2001:db8::1]`. */
function withoutPort(entry: string): string {
  const text = entry.trim();
  const [, v4, v6] = /^(?:([\d.]+):\d{1,5}|\[([^\]]+)\](?::\d{1,5})?)$/.exec(text) ?? [];
  return v4 ?? (v6 !== undefined && isIPv6(v6) ? v6 : text);
}
