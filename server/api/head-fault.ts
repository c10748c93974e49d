import type { IncomingMessage } from "node:http";

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
