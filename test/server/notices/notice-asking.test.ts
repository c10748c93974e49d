/** How venues' feeds are requested, from real servers that answer as venues do, and as no server should. */
import { execFile } from "node:child_process";
import { getEventListeners } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import net, { type AddressInfo } from "node:net";
import { promisify } from "node:util";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import type { FeedPoll, FeedSource } from "../../../server/notices/feed.js";
import { makePace } from "../../../server/notices/pace.js";
import { makeFeedReader, type FeedReaderOptions } from "../../../server/notices/reader.js";
import { packagedFile } from "../../../shared/config/package.js";
import type { Load } from "../../support/notice-load.js";
import { until } from "../../support/until.js";

const userAgent = "venuewatch/0.1.0 (+http://localhost)";
const mebibyte = 1024 * 1024;
const at = new Date("2026-09-04T12:00:00Z");
const never = new AbortController().signal;

/** A venue's server: the requests that it received, and its address. */
interface Venue {
  origin: string;
  asked: { url: string; headers: IncomingMessage["headers"] }[];
}

type Respond = (url: URL, response: ServerResponse, request: IncomingMessage) => void;

async function serve(t: Test, respond: Respond): Promise<Venue> {
  const venue: Venue = { origin: "", asked: [] };
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

function readerFor(t: Test, more: Partial<FeedReaderOptions> = {}) {
  const reader = makeFeedReader({ userAgent, pauseMs: 0, ...more });
  t.teardown(() => reader.close());
  return reader;
}

function statuspageAt({ origin }: { origin: string }, more: Partial<FeedSource> = {}): FeedSource {
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
function binanceAt({ origin }: { origin: string }): FeedSource {
  return {
    kind: "binance-system-status",
    api: `${origin}/sapi/v1/system/status?token=secret`,
    page: null,
    readAt: null,
    feedAt: null,
  };
}

const normal = JSON.stringify({ status: 0, msg: "normal" });

/** Reads a feed of one document from a separate server. */
async function readFrom(t: Test, respond: Respond, more: Partial<FeedReaderOptions> = {}): Promise<FeedPoll> {
  const venue = await serve(t, respond);
  return readerFor(t, more).read(binanceAt(venue), at, never);
}

/** A problem without the server's address, and without the query. */
function problemOf({ problem }: FeedPoll): string | undefined {
  return problem?.replace(/127\.0\.0\.1:\d+/, "venue");
}

const itsName = "venue/sapi/v1/system/status";

// --- A Statuspage for this file

const updated_at = "2026-09-04T11:58:00.000Z";

function pageOf({ origin }: Venue) {
  return { id: "page1", name: "A", url: origin, updated_at };
}

/** Newest first, one every `everyHours`. */
function incidents(count: number, everyHours: number, bytes = 0) {
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

const json = (response: ServerResponse, body: unknown) =>
  response.setHeader("content-type", "application/json").end(JSON.stringify(body));

/** Answers for both lists of a Statuspage; the second is empty. */
function statuspage(
  venue: () => Venue,
  pageOfIncidents: (page: number, response: ServerResponse) => unknown[] | null,
): Respond {
  return (url, response) => {
    const page = pageOf(venue());
    if (url.pathname.endsWith("/scheduled-maintenances.json"))
      return json(response, { page, scheduled_maintenances: [] });
    const number = Number(url.searchParams.get("page") ?? 1);
    const incidents = pageOfIncidents(number, response);
    if (incidents !== null) json(response, { page, incidents });
  };
}

async function serveStatuspage(t: Test, pageOfIncidents: Parameters<typeof statuspage>[1]): Promise<Venue> {
  const venue: Venue = await serve(t, (...args) => statuspage(() => venue, pageOfIncidents)(...args));
  return venue;
}

const pathsOf = ({ asked }: Venue) => asked.map(({ url }) => url.replace("/api/v2/", ""));

// --- Requests

void t.test("a feed is read over HTTP", async (t) => {
  const venue = await serveStatuspage(t, () => incidents(2, 1));
  const reading = await readerFor(t).read(statuspageAt(venue), at, never);
  t.equal(reading.problem, null);
  t.equal(reading.retryAfterMs, 0);
  t.same(reading.feedAt, new Date(updated_at));
  t.same(
    reading.lists.map(({ scope, notices }) => [scope, notices.length]),
    [
      ["incidents", 2],
      ["maintenances", 0],
    ],
  );
  t.same(pathsOf(venue), ["incidents.json", "scheduled-maintenances.json"]);
  t.match(venue.asked[0]!.headers, {
    "user-agent": userAgent,
    accept: "application/json",
    "accept-encoding": "gzip, br",
  });
  t.equal(venue.asked[0]!.headers["if-none-match"], undefined);
});

void t.test("compressed answers are decoded", async (t) => {
  const encodings = {
    gzip: gzipSync(normal),
    "x-gzip": gzipSync(normal),
    br: brotliCompressSync(normal),
    identity: Buffer.from(normal),
  };
  for (const [encoding, body] of Object.entries(encodings)) {
    const reading = await readFrom(t, (_url, response) => response.setHeader("content-encoding", encoding).end(body));
    t.equal(reading.problem, null, encoding);
  }
  const broken = async (encoding: string, body: Buffer) =>
    problemOf(await readFrom(t, (_url, response) => response.setHeader("content-encoding", encoding).end(body)));
  for (const [encoding, body] of [
    ["zstd", Buffer.from(normal)],
    ["deflate", deflateSync(normal)],
  ] as const)
    t.equal(
      await broken(encoding, body),
      `${itsName}: expected gzip, br or no content-encoding, got "${encoding}"`,
      "an unrequested encoding is not decoded",
    );
  for (const [encoding, body] of [
    ["gzip", Buffer.from(normal)],
    ["gzip", gzipSync(normal).subarray(0, -12)],
    ["br", Buffer.from(normal)],
  ] as const)
    t.match(await broken(encoding, body), /: expected a body that can be decompressed, got [A-Z_0-9]+$/);
});

void t.test("an unchanged feed is not transferred again, and gives the same lists", async (t) => {
  let etag = '"one"';
  const venue: Venue = await serve(t, (url, response, request) => {
    const isIncidents = url.pathname.endsWith("/incidents.json");
    response.setHeader(isIncidents ? "etag" : "last-modified", isIncidents ? etag : "Fri, 04 Sep 2026 11:58:00 GMT");
    if (request.headers["if-none-match"] === etag || request.headers["if-modified-since"])
      return response.writeHead(304).end();
    statuspage(
      () => venue,
      () => incidents(etag === '"one"' ? 2 : 3, 1),
    )(url, response, request);
  });
  const reader = readerFor(t);
  const source = statuspageAt(venue);
  const first = await reader.read(source, at, never);
  t.equal(first.problem, null);
  const second = await reader.read(source, at, never);
  t.same(second, first);
  const kept = { ...source, readAt: at };
  const later = new Date(+at + 90_000);
  const third = await reader.read(kept, later, never);
  t.same(third, { ...first, unchanged: true });
  t.equal(venue.asked[2]!.headers["if-none-match"], '"one"');
  t.equal(venue.asked[3]!.headers["if-modified-since"], "Fri, 04 Sep 2026 11:58:00 GMT");
  etag = '"two"';
  const fourth = await reader.read(source, at, never);
  t.equal(fourth.lists[0]!.notices.length, 3);
  const newer = { ...source, feedAt: new Date("2026-09-05T00:00:00Z") };
  t.same((await reader.read(newer, at, never)).problem, null, "an unchanged feed has not gone back in time");
});

void t.test("a reading is unchanged only where the previous one was stored", async (t) => {
  const marks = { incidents: '"a"', "scheduled-maintenances": '"b"' };
  let fails = false;
  const venue: Venue = await serve(t, (url, response, request) => {
    const name = /([a-z-]+)\.json$/.exec(url.pathname)![1];
    const mark = marks[name as keyof typeof marks];
    if (fails && name === "incidents") return response.writeHead(500).end();
    response.setHeader("etag", mark);
    if (request.headers["if-none-match"] === mark) return response.writeHead(304).end();
    statuspage(
      () => venue,
      () => incidents(2, 1),
    )(url, response, request);
  });
  const reader = readerFor(t);
  const minute = (minutes: number) => new Date(+at + minutes * 60_000);
  const reading = async (minutes: number, readAt: Date | null) => {
    const source = statuspageAt(venue, { readAt });
    return reader.read(source, minute(minutes), never);
  };
  const unchanged = async (minutes: number, readAt: Date | null) => {
    const { unchanged, lists, problem } = await reading(minutes, readAt);
    if (problem === null) t.equal(lists[0]!.notices.length, 2);
    return unchanged;
  };
  t.equal(await unchanged(0, null), false, "no earlier reading exists");
  t.equal(await unchanged(1, minute(0)), true);
  t.equal(await unchanged(2, minute(1)), true);
  t.equal(await unchanged(3, minute(1)), false, "the previous reading was not stored");
  t.equal(await unchanged(4, null), false, "no reading was stored");
  t.equal(await unchanged(5, minute(4.5)), false, "another core's reading was stored");
  t.equal(await unchanged(6, minute(5)), true);
  fails = true;
  t.match(await reading(7, minute(6)), { problem: /500/, unchanged: false });
  fails = false;
  t.equal(await unchanged(8, minute(6)), false, "the previous reading had a problem");
  t.equal(await unchanged(9, minute(8)), true);
  marks.incidents = '"c"';
  t.equal(await unchanged(10, minute(9)), false, "one of two documents has changed");
  t.equal(await unchanged(11, minute(10)), true);
});

void t.test("a maintenance ends while its feed is unchanged", async (t) => {
  const ends_at = "2026-09-04T13:00:00Z";
  const venue = await serve(t, (_url, response, request) => {
    response.setHeader("etag", '"mark"');
    if (request.headers["if-none-match"]) return response.writeHead(304).end();
    const page = {
      subdomain: "a",
      custom_domain: "127.0.0.1",
      updated_at,
    };
    const report = {
      title: "Upgrade",
      report_type: "maintenance",
      starts_at: "2026-09-04T11:00:00Z",
      ends_at,
      aggregate_state: "maintenance",
      affected_resources: [],
    };
    json(response, {
      data: { type: "status_page", attributes: page },
      included: [{ id: "1", type: "status_report", attributes: report }],
    });
  });
  const reader = readerFor(t);
  const readings = async (time: string, readAt: Date | null) => {
    const source: FeedSource = {
      kind: "betterstack",
      api: `${venue.origin}/index.json`,
      page: null,
      readAt,
      feedAt: null,
    };
    const reading = await reader.read(source, new Date(time), never);
    t.equal(reading.problem, null);
    const { over, resolvedAt } = reading.lists[0]!.notices[0]!;
    return { unchanged: reading.unchanged, over, resolvedAt };
  };
  const before = { over: false, resolvedAt: null };
  const after = { over: true, resolvedAt: new Date(ends_at) };
  const times = ["12:00", "12:30", "13:10", "13:20"].map((time) => `2026-09-04T${time}:00Z`);
  const [first, second, third, fourth] = times as [string, string, string, string];
  t.same(await readings(first, null), { unchanged: false, ...before });
  t.same(await readings(second, new Date(first)), {
    unchanged: true,
    ...before,
  });
  t.same(await readings(third, new Date(second)), {
    unchanged: false,
    ...after,
  });
  t.same(await readings(fourth, new Date(third)), {
    unchanged: true,
    ...after,
  });
});

void t.test("a document that is not requested for an hour is forgotten", async (t) => {
  const venue = await serve(t, (_url, response) => response.setHeader("etag", '"mark"').end(normal));
  const reader = readerFor(t);
  const markAskedBy = async (api: string, minutes: number) => {
    const source = { ...binanceAt(venue), api };
    await reader.read(source, new Date(+at + minutes * 60_000), never);
    return venue.asked.at(-1)!.headers["if-none-match"];
  };
  const [one, other] = [`${venue.origin}/one`, `${venue.origin}/other`];
  await markAskedBy(one, 0);
  await markAskedBy(other, 30);
  t.equal(await markAskedBy(other, 61), '"mark"');
  t.equal(await markAskedBy(one, 61), undefined);
  t.equal(await markAskedBy(one, 62), '"mark"');
});

void t.test("a document with a problem is requested again in full", async (t) => {
  let broken = true;
  const venue = await serveStatuspage(t, (_page, response) => {
    response.setHeader("etag", '"mark"');
    const [good, bad] = incidents(2, 1);
    return broken ? [good, { ...bad, created_at: null }] : [good];
  });
  const reader = readerFor(t);
  const source = statuspageAt(venue);
  const first = await reader.read(source, at, never);
  t.match(first.problem, "incidents[1].created_at: expected a time, got null");
  t.equal(first.lists[0]!.notices.length, 1);
  t.equal(first.lists.length, 2, "the other document is read nevertheless");
  broken = false;
  t.equal((await reader.read(source, at, never)).problem, null);
  t.equal(venue.asked[2]!.headers["if-none-match"], undefined);
  await reader.read(source, at, never);
  t.equal(venue.asked[4]!.headers["if-none-match"], '"mark"');
});

void t.test("304 without an earlier answer is a problem", async (t) => {
  const reading = await readFrom(t, (_url, response) => response.writeHead(304).end());
  t.equal(problemOf(reading), `${itsName}: answered 304, not modified, to a request without validators`);
  t.same(reading.lists, []);
  let answers = 0;
  const venue = await serve(t, (_url, response) =>
    answers++ === 0 ? response.end(normal) : response.writeHead(304).end(),
  );
  const reader = readerFor(t);
  t.equal((await reader.read(binanceAt(venue), at, never)).problem, null);
  t.match(
    (await reader.read(binanceAt(venue), at, never)).problem,
    /: answered 304/,
    "304 is a problem where the server gave no validator",
  );
});

void t.test("a feed is as old as its oldest document", async (t) => {
  const venue: Venue = await serve(t, (url, response) => {
    const isIncidents = url.pathname.endsWith("/incidents.json");
    const page = {
      ...pageOf(venue),
      ...(isIncidents && { updated_at: "2026-09-04T10:00:00Z" }),
    };
    json(response, { page, incidents: [], scheduled_maintenances: [] });
  });
  const reading = await readerFor(t).read(statuspageAt(venue), at, never);
  t.same(reading.feedAt, new Date("2026-09-04T10:00:00Z"));
});

void t.test("a reading leaves no listener on a lasting signal", async (t) => {
  const lasting = new AbortController().signal;
  const venue = await serveStatuspage(t, () => []);
  await readerFor(t).read(statuspageAt(venue), at, lasting);
  t.equal(getEventListeners(lasting, "abort").length, 0);
});

void t.test("validators that cannot be sent back are not stored", async (t) => {
  const venue = await serve(t, (_url, response) =>
    response
      .setHeader("etag", `"${"x".repeat(600)}"`)
      .setHeader("last-modified", Buffer.from("ä").toString("latin1"))
      .end(normal),
  );
  const reader = readerFor(t);
  await reader.read(binanceAt(venue), at, never);
  t.equal((await reader.read(binanceAt(venue), at, never)).problem, null);
  t.equal(venue.asked[1]!.headers["if-none-match"], undefined);
  t.equal(venue.asked[1]!.headers["if-modified-since"], undefined);
});

// --- Redirects

void t.test("a redirect on the same host is followed", async (t) => {
  const venue = await serve(t, (url, response) =>
    url.pathname === "/moved" ? response.end(normal) : response.writeHead(301, { location: "/moved" }).end("<html>"),
  );
  const reading = await readerFor(t).read(binanceAt(venue), at, never);
  t.equal(reading.problem, null);
  t.equal(venue.asked[1]!.headers["user-agent"], userAgent);
});

void t.test("a redirect observes the host's pause", async (t) => {
  const askedAtMs: number[] = [];
  const venue = await serve(t, (url, response) => {
    askedAtMs.push(performance.now());
    if (url.pathname === "/moved") return response.end(normal);
    response.writeHead(301, { location: "/moved" }).end();
  });
  const reader = readerFor(t, { pauseMs: 2000, deadlineMs: 1500 });
  const begunMs = performance.now();
  const { problem } = await reader.read(binanceAt(venue), at, never);
  t.equal(problem, null, "the pause does not count against the server's deadline");
  t.ok(askedAtMs[1]! - begunMs > 1975, "one pause, less the rounding of timers");
});

void t.test("a redirect to an address that only looks like the same host is not followed", async (t) => {
  const venue: Venue = await serve(t, (_url, response) =>
    response.writeHead(301, { location: `blob:${venue.origin}/x` }).end(),
  );
  const reading = await readerFor(t).read(binanceAt(venue), at, never);
  t.equal(problemOf(reading), `${itsName}: redirects to blob:, which is another origin`);
});

void t.test("redirects to another host, without end or without an address are not followed", async (t) => {
  const problem = async (status: number, location?: string) =>
    problemOf(await readFrom(t, (_url, response) => response.writeHead(status, location ? { location } : {}).end("x")));
  t.equal(
    await problem(301, "https://status.other.example/page?utm=1"),
    `${itsName}: redirects to https://status.other.example, which is another origin`,
  );
  t.equal(await problem(302, "//127.0.0.2/"), `${itsName}: redirects to http://127.0.0.2, which is another origin`);
  t.equal(await problem(308, "/again"), `${itsName}: redirects more than 3 times`);
  for (const location of [undefined, "http://[", ""])
    t.equal(await problem(307, location), `${itsName}: answered 307 without a valid location`);
  t.equal(await problem(300, "/x"), `${itsName}: answered 300`);
});

void t.test("a feed that redirects to HTML is reported as HTML", async (t) => {
  const html = "<!doctype html><title>All Systems Operational</title>";
  for (const type of ["text/html; charset=utf-8", "application/json"]) {
    const venue = await serve(t, (url, response) => {
      if (url.pathname !== "/") return response.writeHead(301, { location: "/" }).end();
      response.setHeader("content-type", type).end(html);
    });
    const reading = await readerFor(t).read(binanceAt(venue), at, never);
    t.equal(problemOf(reading), `${itsName}: answered HTML instead of JSON`);
    t.same(reading.lists, []);
  }
});

// --- Refusals

void t.test("Retry-After is honoured, in seconds and as a date", async (t) => {
  const answered = async (status: number, retryAfter?: string) => {
    const venue = await serve(t, (_url, response) =>
      response.writeHead(status, retryAfter ? { "retry-after": retryAfter } : {}).end("slow down"),
    );
    const reading = await readerFor(t).read(statuspageAt(venue), at, never);
    return { ...reading, asked: venue.asked.length };
  };
  const limited = await answered(429, "120");
  t.match(limited, { lists: [], retryAfterMs: 120_000, asked: 1 });
  t.match(limited.problem, /incidents\.json: answered 429$/);
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  const away = await answered(503, inAMinute);
  t.ok(away.retryAfterMs > 1000 && away.retryAfterMs <= 60_000);
  t.equal(away.asked, 1);
  t.match(await answered(429), { retryAfterMs: 0, asked: 1 });
  const unsaid = await answered(503);
  t.match(unsaid, { retryAfterMs: 0, asked: 2 });
  t.match(unsaid.problem, /^\S+\/incidents\.json: answered 503; and 1 more document$/);
  const banned = await answered(418, "300");
  t.match(banned, { retryAfterMs: 300_000, asked: 1 });
  t.match(await answered(418), { retryAfterMs: 0, asked: 1 });
  t.match(await answered(429, "3000"), { retryAfterMs: 3_000_000 });
  t.match(await answered(429, "999999"), { retryAfterMs: 3_600_000 });
  t.match(await answered(429, "soon"), { retryAfterMs: 0 });
  t.match(await answered(500, "60"), { retryAfterMs: 0, asked: 2 });
});

void t.test("a failed document does not affect the others", async (t) => {
  const venue: Venue = await serve(t, (url, response) => {
    if (url.pathname.endsWith("/incidents.json")) return response.writeHead(500).end("oops");
    json(response, { page: pageOf(venue), scheduled_maintenances: [] });
  });
  const reading = await readerFor(t).read(statuspageAt(venue), at, never);
  t.match(reading.problem, /^127\.0\.0\.1:\d+\/api\/v2\/incidents\.json: answered 500$/);
  t.same(
    reading.lists.map(({ scope }) => scope),
    ["maintenances"],
    "the failed document's list is absent, not empty",
  );
});

void t.test("OKX's documents make one list", async (t) => {
  const entry = {
    title: "Upgrade",
    state: "ongoing",
    begin: "1788000000000",
    end: "1788003600000",
    href: "",
    serviceType: "0",
    system: "unified",
    maintType: "1",
    env: "1",
  };
  const venue = await serve(t, (url, response) => {
    const state = url.searchParams.get("state");
    const ended = { ...entry, state, begin: "1787000000000" };
    const data = state === "canceled" ? [] : state === null ? [entry] : [entry, ended];
    json(response, { code: "0", msg: "", data });
  });
  const reading = await readerFor(t).read(
    {
      kind: "okx-system-status",
      api: `${venue.origin}/api/v5/system/status`,
      page: null,
      readAt: null,
      feedAt: null,
    },
    at,
    never,
  );
  t.equal(reading.problem, null);
  t.equal(venue.asked.length, 3);
  t.same(
    reading.lists.map(({ scope, listedFrom, notices }) => ({
      scope,
      listedFrom,
      states: notices.map(({ status }) => status),
    })),
    [{ scope: "notices", listedFrom: null, states: ["ongoing", "completed"] }],
  );
});

// --- Bounds

void t.test("endless answers are given up", async (t) => {
  const drip = (response: ServerResponse) => {
    const timer = setInterval(() => response.write(" "), 10);
    response.on("close", () => clearInterval(timer));
  };
  const slow: Record<string, Respond> = {
    "nothing at all": () => {},
    "a drip": (_url, response) => drip(response),
    "a drip behind gzip": (_url, response) => {
      response.setHeader("content-encoding", "gzip");
      response.write(gzipSync(normal).subarray(0, 10));
    },
    "a redirect that drips": (_url, response) => drip(response.writeHead(302, { location: "/again" })),
  };
  for (const [name, respond] of Object.entries(slow)) {
    const venue = await serve(t, respond);
    const redirects = name === "a redirect that drips";
    const deadlineMs = redirects ? 10_000 : 200;
    const reader = readerFor(t, { deadlineMs });
    const reading = await reader.read(binanceAt(venue), at, never);
    if (redirects) t.equal(problemOf(reading), `${itsName}: redirects more than 3 times`);
    else t.equal(problemOf(reading), `${itsName}: expected a whole answer within 0.2 s`, name);
  }
});

/** Hanging requests end with the test. */
function hang(_url: URL, response: ServerResponse) {
  response.on("error", () => {});
}

void t.test("a whole reading has a deadline", async (t) => {
  const late = async (options: Partial<FeedReaderOptions>) => {
    const venue: Venue = await serve(t, (url, response, request) => {
      if (!url.pathname.endsWith("/incidents.json")) return hang(url, response);
      statuspage(
        () => venue,
        () => incidents(50, 1),
      )(url, response, request);
    });
    const lasting = new AbortController().signal;
    const reader = readerFor(t, { readingMs: 3000, ...options });
    const reading = await reader.read(statuspageAt(venue), at, lasting);
    t.equal(getEventListeners(lasting, "abort").length, 0);
    t.equal(problemOf(reading), "venue/api/v2/scheduled-maintenances.json: expected a whole reading within 3 s");
    t.same(
      reading.lists.map(({ scope, notices }) => [scope, notices.length]),
      [["incidents", 50]],
      "the lists read so far are kept",
    );
    return pathsOf(venue);
  };
  const [asked, askedPaused] = await Promise.all([late({}), late({ pauseMs: 600_000 })]);
  t.same(asked, ["incidents.json", "scheduled-maintenances.json"]);
  t.same(askedPaused, ["incidents.json"], "pauses count");
  const none = await serve(t, hang);
  const source = statuspageAt(none);
  const reader = readerFor(t, { readingMs: 50 });
  const reading = await reader.read(source, at, never);
  t.match(reading.problem, /incidents\.json: expected a whole reading [^;]*$/);
  t.same(reading.lists, []);
});

void t.test("an aborted reading is not reported as late", async (t) => {
  const venue = await serve(t, hang);
  const reader = readerFor(t, { readingMs: 60_000 });
  const ending = new AbortController();
  const reading = reader.read(statuspageAt(venue), at, ending.signal);
  await until(() => venue.asked.length === 1);
  ending.abort(new Error("stopping"));
  await t.rejects(reading, { message: "stopping" });
});

void t.test("bodies are read up to a limit, after decompression", async (t) => {
  const zeros = Buffer.alloc(64 * mebibyte);
  const bombs = {
    gzip: gzipSync(zeros),
    br: brotliCompressSync(zeros, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
    }),
    identity: zeros,
  };
  for (const [encoding, body] of Object.entries(bombs)) {
    const before = process.resourceUsage().maxRSS;
    const reading = await readFrom(t, (_url, response) => {
      response.on("error", () => {});
      response.setHeader("content-encoding", encoding).end(body);
    });
    t.equal(problemOf(reading), `${itsName}: expected at most 16777216 bytes, got more`, encoding);
    const grownKib = process.resourceUsage().maxRSS - before;
    t.ok(grownKib < 64 * 1024, `${encoding}: ${grownKib} KiB`);
  }
  const small = await readFrom(t, (_url, response) => response.end(normal), {
    maxBodyBytes: normal.length,
  });
  t.equal(small.problem, null, "a body of exactly the limit is read");
});

void t.test("10,000 incidents take bounded time and memory, in a separate process", async (t) => {
  const all = incidents(10_000, 1, 1300);
  const venue = await serveStatuspage(t, () => all);
  const bytes = Buffer.byteLength(JSON.stringify(all));
  t.ok(bytes > 15_000_000 && bytes < 16 * mebibyte, `${bytes} bytes`);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [packagedFile("dist/test/support/notice-load.js"), statuspageAt(venue).api],
    { env: {} },
  );
  const load = JSON.parse(stdout) as Load;
  t.match(load, { problem: null, notices: 1000 });
  t.ok(load.cpuMs < 10_000, `${load.cpuMs} ms of processor time`);
  t.ok(load.peakBytes < 350 * mebibyte, `${load.peakBytes} bytes at the peak`);
  t.ok(load.heldBytes < 10 * mebibyte, `${load.heldBytes} bytes are retained`);
});

void t.test("of 10,000 incidents the newest 1,000 are taken", async (t) => {
  const venue = await serveStatuspage(t, () => incidents(10_000, 1));
  const reading = await readerFor(t).read(statuspageAt(venue), at, never);
  t.equal(reading.problem, null);
  const { notices, listedFrom } = reading.lists[0]!;
  t.equal(notices.length, 1000);
  t.equal(notices.at(-1)!.id, "i999");
  t.same(listedFrom, new Date(+at - 1000 * 3_600_000 + 1));
  t.same(pathsOf(venue), ["incidents.json", "scheduled-maintenances.json"], "no further page could add anything");
});

// --- Connections

/** The problem after bytes that no HTTP server would send and the end of the connection. */
async function problemOfBytes(t: Test, bytes: string): Promise<string | undefined> {
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(bytes, "latin1"));
  });
  server.listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const venue = { origin: `http://127.0.0.1:${port}` };
  const reader = readerFor(t, { deadlineMs: 2000 });
  return problemOf(await reader.read(binanceAt(venue), at, never));
}

void t.test("answers that no HTTP server gives are problems", async (t) => {
  const ok = "HTTP/1.1 200 OK\r\n";
  const answers: [bytes: string, expected: RegExp | string][] = [
    ["HTTP/1.1 999 Huh\r\ncontent-length: 0\r\n\r\n", "answered 999"],
    ["HTTP/1.1 204 None\r\n\r\n", "answered 204"],
    ["HTTP/1.1 100 Continue\r\n\r\n", "expected an answer, got a broken connection (ECONNRESET)"],
    [`${ok}\r\n\xff\xfe{}`, /expected JSON, got /],
    ["HTTP/1.1 301 Moved\r\nlocation: \xe4\xff//\r\n\r\n", "redirects more than 3 times"],
    [
      "HTTP/1.1 301 Moved\r\nlocation: javascript:alert(1)\r\n\r\n",
      "redirects to javascript:, which is another origin",
    ],
    [`HTTP/1.1 429 No\r\nretry-after: ${"9".repeat(400)}\r\n\r\n`, "answered 429"],
  ];
  for (const [bytes, expected] of answers) {
    const problem = (await problemOfBytes(t, bytes))?.replace(`${itsName}: `, "");
    const name = JSON.stringify(bytes).slice(0, 80);
    if (typeof expected === "string") t.equal(problem, expected, name);
    else t.match(problem, expected, name);
  }
  t.equal(
    await problemOfBytes(t, `HTTP/1.1 103 Hints\r\nlink: </>\r\n\r\n${ok}\r\n\xef\xbb\xbf${normal}`),
    undefined,
    "early hints and a byte order mark are accepted",
  );
});

void t.test("a server that does not listen is reported without its query", async (t) => {
  const gone = net.createServer().listen(0, "127.0.0.1");
  await new Promise((listening) => gone.once("listening", listening));
  const { port } = gone.address() as AddressInfo;
  await new Promise((closed) => gone.close(closed));
  const refused = binanceAt({ origin: `http://user:secret@127.0.0.1:${port}` });
  const reading = await readerFor(t).read(refused, at, never);
  t.equal(
    problemOf(reading),
    `${itsName}: expected an answer, got a refused connection (ECONNREFUSED)`,
    "the problem contains nothing that may be secret",
  );
  t.same(reading, {
    problem: reading.problem,
    unanswered: true,
    lists: [],
    feedAt: null,
    unchanged: false,
    retryAfterMs: 0,
  });
});

void t.test("a server's words in a problem are bounded and on one line", async (t) => {
  const body = JSON.stringify({
    code: -1,
    msg: `\u001b[31m first\nsecond \u202e${"x".repeat(10_000)}`,
  });
  const reading = await readFrom(t, (_url, response) => response.end(body));
  t.equal(problemOf(reading), `${itsName}: answered an error: code -1, "[31m first second ${"x".repeat(21)}…"`);
  const venue = await serve(t, (_url, response) => response.end("?"));
  const long = binanceAt(venue);
  long.api = `${venue.origin}/${"p".repeat(5000)}`;
  const { problem } = await readerFor(t).read(long, at, never);
  t.ok(problem!.length <= 300);
  t.match(problem, /p: expected JSON, got "\?"$/);
});

// --- Ours

void t.test("an aborted reading is no problem of the venue", async (t) => {
  const venue = await serve(t, () => {});
  const reader = readerFor(t);
  const ending = new AbortController();
  const reading = reader.read(binanceAt(venue), at, ending.signal);
  await until(() => venue.asked.length === 1);
  const reason = new Error("stopping");
  ending.abort(reason);
  await t.rejects(reading, reason);
  await t.rejects(reader.read(binanceAt(venue), at, ending.signal), reason);
  t.equal(venue.asked.length, 1);
});

void t.test("the pause between two documents can be aborted", async (t) => {
  const venue = await serveStatuspage(t, () => []);
  const reader = readerFor(t, { pauseMs: 600_000 });
  const ending = new AbortController();
  const reading = reader.read(statuspageAt(venue), at, ending.signal);
  await until(() => venue.asked.length === 1);
  ending.abort();
  await t.rejects(reading, { name: "AbortError" });
  t.same(pathsOf(venue), ["incidents.json"]);
});

void t.test("a bug of our own is thrown", async (t) => {
  const venue = await serve(t, (_url, response) => response.end(normal));
  const reader = readerFor(t, { userAgent: "two\nlines" });
  await t.rejects(reader.read(binanceAt(venue), at, never), /header/);
  const closed = makeFeedReader({ userAgent });
  await closed.close();
  await t.rejects(closed.read(binanceAt(venue), at, never), /expected an open client, got a closed one/);
});

void t.test("requests to one host keep their pause, other hosts do not wait", async (t) => {
  const pace = makePace();
  const begunMs = performance.now();
  const order: string[] = [];
  const turn = async (name: string, host: string) => {
    await pace.turn(host, 40, never);
    order.push(name);
    return performance.now() - begunMs;
  };
  const turns = [turn("a1", "a"), turn("a2", "a"), turn("a3", "a"), turn("b1", "b")];
  const [, , thirdMs] = await Promise.all(turns);
  t.same(order, ["a1", "b1", "a2", "a3"]);
  t.ok(thirdMs! > 75, "two pauses, less the rounding of timers");
});

// --- Pages

void t.test("the first reading goes back page by page", async (t) => {
  const all = incidents(120, 1);
  const venue = await serveStatuspage(t, (page) => all.slice((page - 1) * 50, page * 50));
  const reader = readerFor(t);
  const first = await reader.read(statuspageAt(venue), at, never);
  t.equal(first.problem, null);
  t.equal(first.lists[0]!.notices.length, 120);
  t.same(first.lists[0]!.listedFrom, new Date(0), "the last page is not full");
  t.same(pathsOf(venue), [
    "incidents.json",
    "scheduled-maintenances.json",
    "incidents.json?page=2",
    "incidents.json?page=3",
  ]);
  venue.asked.length = 0;
  const readAt = new Date(+at - 3_600_000);
  const second = await reader.read(statuspageAt(venue, { readAt }), at, never);
  t.equal(second.lists[0]!.notices.length, 50);
  t.same(second.lists[0]!.listedFrom, new Date(+at - 49 * 3_600_000));
  t.equal(venue.asked.length, 2, "one page reaches back far enough");
  venue.asked.length = 0;
  const longAgo = new Date(+at - 60 * 3_600_000);
  await reader.read(statuspageAt(venue, { readAt: longAgo }), at, never);
  t.equal(venue.asked.length, 3, "after a long absence one page is not enough");
});

void t.test("a server that ignores page numbers gets one extra request", async (t) => {
  const venue = await serveStatuspage(t, () => incidents(50, 1));
  const reader = readerFor(t);
  const reading = await reader.read(statuspageAt(venue), at, never);
  t.equal(reading.problem, null);
  t.equal(reading.lists[0]!.notices.length, 50);
  t.same(reading.lists[0]!.listedFrom, new Date(+at - 49 * 3_600_000));
  t.same(pathsOf(venue), ["incidents.json", "scheduled-maintenances.json", "incidents.json?page=2"]);
  venue.asked.length = 0;
  await reader.read(statuspageAt(venue, { readAt: at }), at, never);
  t.equal(venue.asked.length, 2);
});

void t.test("reading back ends at a hundred days or 1,000 notices", async (t) => {
  const pagesOf = (all: unknown[]) => (page: number) => all.slice((page - 1) * 50, page * 50);
  const daily = await serveStatuspage(t, pagesOf(incidents(500, 24)));
  const reading = await readerFor(t).read(statuspageAt(daily), at, never);
  t.equal(reading.lists[0]!.notices.length, 150);
  t.equal(daily.asked.length, 4);
  t.same(reading.lists[0]!.listedFrom, new Date(+at - 149 * 24 * 3_600_000));
  const hourly = await serveStatuspage(t, pagesOf(incidents(2000, 0.5)));
  const many = await readerFor(t).read(statuspageAt(hourly), at, never);
  t.equal(many.lists[0]!.notices.length, 1000);
  t.equal(hourly.asked.length, 21);
});

void t.test("later pages that fail keep the first", async (t) => {
  const pages = async (status: number) => {
    const venue = await serveStatuspage(t, (page, response) => {
      if (page === 1) return incidents(50, 1);
      response.writeHead(status).end("no");
      return null;
    });
    return readerFor(t).read(statuspageAt(venue), at, never);
  };
  for (const status of [400, 404]) {
    const reading = await pages(status);
    t.equal(reading.problem, null, "a missing second page is no problem");
    t.same(reading.lists[0]!.listedFrom, new Date(+at - 49 * 3_600_000));
  }
  const broken = await pages(500);
  t.match(broken.problem, /incidents\.json: answered 500$/);
  t.equal(broken.lists[0]!.notices.length, 50, "the first page is kept");
});

void t.test("a notice that moved to the next page meanwhile appears once", async (t) => {
  const all = incidents(70, 1);
  const venue = await serveStatuspage(t, (page) => (page === 1 ? all.slice(0, 50) : all.slice(49)));
  const reading = await readerFor(t).read(statuspageAt(venue), at, never);
  t.same(
    reading.lists[0]!.notices.map(({ id }) => id),
    all.map(({ id }) => id),
  );
});

void t.test("a feed too slow to read back to its beginning is read as far as possible", async (t) => {
  const all = incidents(300, 1);
  const hoursAgo = (hours: number) => new Date(+at - hours * 3_600_000);
  const read = async (readAt: Date | null) => {
    const venue: Venue = await serve(t, (url, response, request) => {
      const page = Number(url.searchParams.get("page") ?? 1);
      if (page >= 3) return hang(url, response);
      statuspage(
        () => venue,
        () => all.slice((page - 1) * 50, page * 50),
      )(url, response, request);
    });
    const reader = readerFor(t, { readingMs: 500 });
    const source = statuspageAt(venue, { readAt });
    const { problem, lists } = await reader.read(source, at, never);
    t.same(pathsOf(venue), [
      "incidents.json",
      "scheduled-maintenances.json",
      "incidents.json?page=2",
      "incidents.json?page=3",
    ]);
    t.equal(problem, null);
    t.same(
      lists.map(({ scope, notices, listedFrom }) => ({
        scope,
        count: notices.length,
        listedFrom,
      })),
      [
        { scope: "incidents", count: 100, listedFrom: hoursAgo(99) },
        { scope: "maintenances", count: 0, listedFrom: new Date(0) },
      ],
      "the list records how far back it goes",
    );
  };
  const anAbsence = hoursAgo(200);
  await Promise.all([null, anAbsence].map(read));
});
