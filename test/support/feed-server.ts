/** Real servers of status feeds that answer as venues do, and as no server should; and readers for them. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import type { FeedPoll, FeedSource } from "../../server/core/notices/feed.js";
import { makeFeedReader, type FeedReaderOptions } from "../../server/core/notices/reader.js";

export const userAgent = "venuewatch/0.1.0 (+http://localhost)";

export const at = new Date("2026-09-04T12:00:00Z");
export const never: AbortSignal = new AbortController().signal;

/** A venue's server: its address, and the requests that it received. */
export interface FeedServer {
  origin: string;
  requests: { url: string; headers: IncomingMessage["headers"] }[];
}

export type FeedAnswer = (url: URL, response: ServerResponse, request: IncomingMessage) => void;

export async function serve(t: Test, respond: FeedAnswer): Promise<FeedServer> {
  const requests: FeedServer["requests"] = [];
  const server = createServer((request, response) => {
    requests.push({ url: request.url!, headers: request.headers });
    respond(new URL(request.url!, `http://${request.headers.host}`), response, request);
  }).listen(0, "127.0.0.1");
  // Node would close an idle connection after five seconds, which a reader on a loaded machine may be about to reuse
  server.keepAliveTimeout = 0;
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

export function readerFor(t: Test, more: Partial<FeedReaderOptions> = {}) {
  const reader = makeFeedReader({ userAgent, pauseMs: 0, ...more });
  t.teardown(() => reader.close());
  return reader;
}

export function sourceAt(kind: FeedSource["kind"], api: string, more: Partial<FeedSource> = {}): FeedSource {
  return { kind, api, page: null, readAt: null, feedAt: null, ...more };
}

export function statuspageAt({ origin }: { origin: string }, more: Partial<FeedSource> = {}): FeedSource {
  return sourceAt("statuspage", `${origin}/api/v2/incidents.json`, more);
}

/** Feeds of one document are the simplest to request. */
export function binanceAt({ origin }: { origin: string }): FeedSource {
  return sourceAt("binance-system-status", `${origin}/sapi/v1/system/status?token=secret`);
}

export const normal = JSON.stringify({ status: 0, msg: "normal" });

/** Reads a feed of one document from a separate server. */
export async function readFrom(t: Test, respond: FeedAnswer, more: Partial<FeedReaderOptions> = {}): Promise<FeedPoll> {
  return readerFor(t, more).read(binanceAt(await serve(t, respond)), at, never);
}

/** A problem without the server's address, and without the query. */
export function problemOf({ problem }: FeedPoll): string | undefined {
  return problem?.replace(/127\.0\.0\.1:\d+/, "venue");
}

export const itsName = "venue/sapi/v1/system/status";

export const updated_at = "2026-09-04T11:58:00.000Z";

/** The page to which a document at this URL belongs. */
export function pageOf({ origin }: URL) {
  return { id: "page1", name: "A", url: origin, updated_at };
}

/** Newest first, one every `everyHours`. */
export function incidents(count: number, everyHours: number, bytes = 0) {
  return Array.from({ length: count }, (_, index) => ({
    id: `i${index}`,
    page_id: "page1",
    name: `Incident ${index}`,
    status: "resolved",
    impact: "minor",
    shortlink: null,
    created_at: new Date(+at - index * everyHours * 3_600_000).toISOString(),
    started_at: null,
    resolved_at: null,
    components: [],
    ...(bytes > 0 && { incident_updates: [{ body: "x".repeat(bytes) }] }),
  }));
}

export const json = (response: ServerResponse, body: unknown) =>
  response.setHeader("content-type", "application/json").end(JSON.stringify(body));

/** Answers for both lists of a Statuspage; the second is empty. */
export function statuspage(pageOfIncidents: (page: number, response: ServerResponse) => unknown[] | null): FeedAnswer {
  return (url, response) => {
    const page = pageOf(url);
    if (url.pathname.endsWith("/scheduled-maintenances.json"))
      return json(response, { page, scheduled_maintenances: [] });
    const number = Number(url.searchParams.get("page") ?? 1);
    const incidents = pageOfIncidents(number, response);
    if (incidents !== null) json(response, { page, incidents });
  };
}

export async function serveStatuspage(t: Test, pageOfIncidents: Parameters<typeof statuspage>[0]): Promise<FeedServer> {
  return serve(t, statuspage(pageOfIncidents));
}

export const pathsOf = ({ requests }: FeedServer) => requests.map(({ url }) => url.replace("/api/v2/", ""));

/** Hanging requests end with the test. */
export const hang: FeedAnswer = (_url, response) => {
  response.on("error", () => {});
};
