/** Sends complete answers of the world's servers. */
import type { ServerResponse } from "node:http";

export function sendJson(response: ServerResponse, status: number, body: unknown) {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

export function sendHtml(response: ServerResponse, status: number, text: string) {
  response.writeHead(status, { "content-type": "text/html" });
  response.end(`<!doctype html><title>venue</title>${text}`);
}
