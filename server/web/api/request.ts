import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP, isIPv6 } from "node:net";
import type { Request } from "express";

/** The properties that only Express adds to a request. */
export type Addressed = IncomingMessage & {
  ip?: string | undefined;
  route?: { path: string | string[] };
};

/** A request that has ended. */
export interface AnsweredRequest {
  /** The app's route, `/v1/incidents/:slug`; `none` if none matched, or the request was refused before routing. */
  route: string;
  /** `aborted` if the client disconnected before the response was sent. */
  status: string;
  tookMs: number;
}

/** Reports a request when it has ended. */
export function onRequestEnd(
  request: IncomingMessage,
  response: ServerResponse,
  report: (answered: AnsweredRequest) => void,
): void {
  const startedMs = performance.now();
  // `close` is emitted once, and `once` would cost as much as all of this
  response.on("close", () => {
    report({
      route: routeOf(request),
      status: response.writableFinished ? String(response.statusCode) : "aborted",
      tookMs: performance.now() - startedMs,
    });
  });
}

/** Never the requested path, of which there are endlessly many. Of a route's several paths, the last. */
function routeOf({ route }: Addressed): string {
  const path = route?.path;
  return (typeof path === "string" ? path : path?.at(-1)) ?? "none";
}

/**
 * What RFC 9112 requires servers to refuse in a request's head and Node accepts, as a sentence; null if nothing is
 * wrong.
 */
export function headFault({
  httpVersion,
  headers,
  rawHeaders,
}: Pick<IncomingMessage, "httpVersion" | "headers" | "rawHeaders">): string | null {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return `Expected HTTP/1.1, got HTTP/${httpVersion}.`;
  const hosts = hostHeaders(rawHeaders);
  const { host = "" } = headers;
  if (hosts === 0 && httpVersion === "1.1") return "An HTTP/1.1 request must have a Host header.";
  if (hosts > 1) return `Expected one Host header, got ${hosts}.`;
  if (!isHost.test(host)) return "Expected a Host header with a name and a port (RFC 9110, 7.2).";
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") return "Expected no transfer coding or chunked.";
  return null;
}

/** An authority without user information; empty where a target has none. */
const isHost = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-fv.:]+\])(?::\d{0,5})?$/i;

/** Counts them in the raw headers: Node keeps only the first, but a proxy in front may have used another. */
function hostHeaders(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === "host") hosts += 1;
  return hosts;
}

/** The unparsed query: repeated and structured parameters must be visible to be refused. */
export function queryOf(request: Request): URLSearchParams {
  const at = request.originalUrl.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : request.originalUrl.slice(at));
}

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
