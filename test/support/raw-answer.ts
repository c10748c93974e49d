/** An HTTP response as it was sent: compressed, and with its header names as written. */
import { request, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Sorted, each as often as it occurs. */
  names: string[];
  bytes: Buffer;
}

export function askRaw(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", path, headers, method, agent: false }, (response) => {
      const { statusCode, headers, rawHeaders } = response;
      const names = rawHeaders.filter((_, i) => i % 2 === 0).sort();
      void buffer(response).then((bytes) => resolve({ status: statusCode!, headers, names, bytes }), reject);
    });
    sent.on("error", reject).end();
  });
}
