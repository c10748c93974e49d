import type { IncomingMessage } from "node:http";

/** What RFC 9112 wants refused of a request's head, and Node lets pass, as a sentence; null where nothing is wrong. */
export function headFault({
  httpVersion,
  headers,
  rawHeaders,
}: Pick<IncomingMessage, "httpVersion" | "headers" | "rawHeaders">): string | null {
  if (httpVersion !== "1.1" && httpVersion !== "1.0")
    return `HTTP/1.1 is spoken here, the request is in HTTP/${httpVersion}.`;
  const hosts = hostHeaders(rawHeaders);
  if (hosts === 0 && httpVersion === "1.1") return "A request in HTTP/1.1 must have a Host header.";
  if (hosts > 1) return `A request must have one Host header, this one has ${hosts}.`;
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    return "Of transfer codings only chunked is understood here.";
  return null;
}

/** Of several Node keeps the first, and a proxy in front may have gone by another. */
function hostHeaders(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === "host") hosts += 1;
  return hosts;
}
