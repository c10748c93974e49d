import { isIP, isIPv6 } from "node:net";
import type { IncomingMessage } from "node:http";

/**
 * The client's IP address: the socket's or, behind proxies in `TRUST_PROXY`, the last entry of `X-Forwarded-For` that
 * is not such a proxy. If that entry is not an address, the socket's is used: otherwise a client could invent a new
 * text for each request.
 *
 * Strips the ports that Azure's gateway and others write into that header: the port differs for each connection. It
 * changes the header itself, because Express compares its entries with `TRUST_PROXY`, and an entry with a port matches
 * none.
 *
 * @param ipOf the address as Express computes it from the current header
 */
export function clientAddress(request: IncomingMessage, ipOf: () => string | undefined): string {
  const header = "x-forwarded-for";
  const forwarded = request.headers[header];
  // a fast path: Express gives the same result, but takes longer than the rest of a response whose body is ready
  if (forwarded === undefined) return request.socket.remoteAddress ?? "";
  if (typeof forwarded === "string") request.headers[header] = forwarded.split(",").map(withoutPort).join(", ");
  const ip = ipOf();
  return ip !== undefined && isIP(ip) !== 0 ? ip : (request.socket.remoteAddress ?? "");
}

/** Strips the port of `192.0.2.1:5678`, `[2001:db8::1]:5678` and `[2001:db8::1]`. */
function withoutPort(entry: string): string {
  const text = entry.trim();
  const [, v4, v6] = /^(?:([\d.]+):\d{1,5}|\[([^\]]+)\](?::\d{1,5})?)$/.exec(text) ?? [];
  return v4 ?? (v6 !== undefined && isIPv6(v6) ? v6 : text);
}
