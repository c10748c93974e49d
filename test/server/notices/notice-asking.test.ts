/** How venues' feeds are requested, and what is kept of their answers. */
import { getEventListeners } from "node:events";
import t from "tap";
import type { FeedSource } from "../../../server/notices/feed.js";
import { makePace } from "../../../server/notices/pace.js";
import { makeFeedReader } from "../../../server/notices/reader.js";
import { until } from "../../support/until.js";
import {
  at,
  binanceAt,
  incidents,
  itsName,
  json,
  never,
  normal,
  pageOf,
  pathsOf,
  problemOf,
  readerFor,
  readFrom,
  serve,
  serveStatuspage,
  statuspage,
  statuspageAt,
  updated_at,
  userAgent,
  type FeedServer,
} from "../../support/feed-server.js";

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

void t.test("an unchanged feed is not transferred again, and gives the same lists", async (t) => {
  let etag = '"one"';
  const venue: FeedServer = await serve(t, (url, response, request) => {
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
  const venue: FeedServer = await serve(t, (url, response, request) => {
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
    const page = { subdomain: "a", custom_domain: "127.0.0.1", updated_at };
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
  t.same(await readings(second, new Date(first)), { unchanged: true, ...before });
  t.same(await readings(third, new Date(second)), { unchanged: false, ...after });
  t.same(await readings(fourth, new Date(third)), { unchanged: true, ...after });
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
  const venue: FeedServer = await serve(t, (url, response) => {
    const isIncidents = url.pathname.endsWith("/incidents.json");
    const page = { ...pageOf(venue), ...(isIncidents && { updated_at: "2026-09-04T10:00:00Z" }) };
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
  const venue: FeedServer = await serve(t, (url, response) => {
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
    { kind: "okx-system-status", api: `${venue.origin}/api/v5/system/status`, page: null, readAt: null, feedAt: null },
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
