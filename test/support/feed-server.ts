/** Real servers of status feeds that answer as venues do, and as no server should; and readers for them. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import type { FeedPoll, FeedSource } from "../../server/notices/feed.js";
import { makeFeedReader, type FeedReaderOptions } from "../../server/notices/reader.js";

export const userAgent = "venuewatch/0.1.0 (+http://localhost)";

export const at = new Date("2026-09-04T12:00:00Z");
export const never: AbortSignal = new AbortController().signal;

/** A venue's server: the requests that it received, and its address. */
export interface FeedServer {
  origin: string;
  asked: { url: string; headers: IncomingMessage["headers"] }[];
}

export type FeedAnswer = (url: URL, response: ServerResponse, request: IncomingMessage) => void;

export async function serve(t: Test, respond: FeedAnswer): Promise<FeedServer> {
  const venue: FeedServer = { origin: "", asked: [] };
  const server = createServer((request, response) => {
    venue.asked.push({ url: request.url!, headers: request.headers });
    respond(new URL(request.url!, venue.origin), response, request);
  }).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  venue.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return venue;
}

export function readerFor(t: Test, more: Partial<FeedReaderOptions> = {}) {
  const reader = makeFeedReader({ userAgent, pauseMs: 0, ...more });
  t.teardown(() => reader.close());
  return reader;
}

export function statuspageAt({ origin }: { origin: string }, more: Partial<FeedSource> = {}): FeedSource {
  return {
    kind: "statuspage",
    api: `${origin}/api/v2/incidents.json`,
    page: null,
    readAt: null,
    feedAt: null,
    ...more,
  };
}

/** Feeds of one document are the simplest to request. */
export function binanceAt({ origin }: { origin: string }): FeedSource {
  return {
    kind: "binance-system-status",
    api: `${origin}/sapi/v1/system/status?token=secret`,
    page: null,
    readAt: null,
    feedAt: null,
  };
}

export const normal = JSON.stringify({ status: 0, msg: "normal" });

/** Reads a feed of one document from a separate server. */
export async function readFrom(t: Test, respond: FeedAnswer, more: Partial<FeedReaderOptions> = {}): Promise<FeedPoll> {
  const venue = await serve(t, respond);
  return readerFor(t, more).read(binanceAt(venue), at, never);
}

/** A problem without the server's address, and without the query. */
export function problemOf({ problem }: FeedPoll): string | undefined {
  return problem?.replace(/127\.0\.0\.1:\d+/, "venue");
}

export const itsName = "venue/sapi/v1/system/status";

export const updated_at = "2026-09-04T11:58:00.000Z";

export function pageOf({ origin }: FeedServer) {
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
export function statuspage(
  venue: () => FeedServer,
  pageOfIncidents: (page: number, response: ServerResponse) => unknown[] | null,
): FeedAnswer {
  return (url, response) => {
    const page = pageOf(venue());
    if (url.pathname.endsWith("/scheduled-maintenances.json"))
      return json(response, { page, scheduled_maintenances: [] });
    const number = Number(url.searchParams.get("page") ?? 1);
    const incidents = pageOfIncidents(number, response);
    if (incidents !== null) json(response, { page, incidents });
  };
}

export async function serveStatuspage(t: Test, pageOfIncidents: Parameters<typeof statuspage>[1]): Promise<FeedServer> {
  const venue: FeedServer = await serve(t, (...args) => statuspage(() => venue, pageOfIncidents)(...args));
  return venue;
}

export const pathsOf = ({ asked }: FeedServer) => asked.map(({ url }) => url.replace("/api/v2/", ""));

/** Hanging requests end with the test. */
export function hang(_url: URL, response: ServerResponse) {
  response.on("error", () => {});
}
