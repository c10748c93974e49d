/**
 * How one document of a feed is fetched: redirects, the longest body, and the words for what comes instead. Hostile
 * answers are in hostile-servers.test.ts.
 */
import { execFile } from "node:child_process";
import { getEventListeners } from "node:events";
import { promisify } from "node:util";
import t from "tap";
import { mebibyte } from "../../../../shared/config/byte-units.js";
import { makeFeedReader, makePace } from "../../../../server/core/notices/reader.js";
import { packagedFile } from "../../../../shared/config/package.js";
import { okxBody, okxEntry } from "../../../support/feed-entries.js";
import {
  at,
  binanceAt,
  type FeedServer,
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
  sourceAt,
  statuspage,
  statuspageAt,
  updated_at,
  userAgent,
} from "../../../support/feed-server.js";
import { freePort } from "../../../support/free-port.js";
import type { Load } from "../../../support/notice-load.js";
import { until } from "../../../support/until.js";

void t.test("a redirect on the same host is followed", async (t) => {
  const venue = await serve(t, (url, response) =>
    url.pathname === "/moved" ? response.end(normal) : response.writeHead(301, { location: "/moved" }).end("<html>"),
  );
  const reading = await readerFor(t).read(binanceAt(venue), at, never);
  t.equal(reading.problem, null);
  t.equal(venue.requests[1]!.headers["user-agent"], userAgent);
});

void t.test("a redirect observes the host's pause", async (t) => {
  const requestsAtMs: number[] = [];
  const venue = await serve(t, (url, response) => {
    requestsAtMs.push(performance.now());
    if (url.pathname === "/moved") response.end(normal);
    else response.writeHead(301, { location: "/moved" }).end();
  });
  const startMs = performance.now();
  const reader = readerFor(t, { pauseMs: 2000, deadlineMs: 1500 });
  const { problem } = await reader.read(binanceAt(venue), at, never);
  t.equal(problem, null, "the pause does not count against the server's deadline");
  t.ok(requestsAtMs[1]! - startMs > 1975, "one pause, less the rounding of timers");
});

void t.test("redirects to another host, without end or without an address are not followed", async (t) => {
  const problems: [status: number, location: string | undefined, problem: string][] = [
    [301, "https://other.example/page?utm=1", "redirects to https://other.example, which is another origin"],
    [302, "//127.0.0.2/", "redirects to http://127.0.0.2, which is another origin"],
    [301, "javascript:alert(1)", "redirects to javascript:, which is another origin"],
    [301, "blob:$ORIGIN/x", "redirects to blob:, which is another origin"],
    [301, "\xe4\xff//", "redirects more than 3 times"],
    [308, "/again", "redirects more than 3 times"],
    [307, undefined, "answered 307 without a valid location"],
    [307, "http://[", "answered 307 without a valid location"],
    [307, "", "answered 307 without a valid location"],
    [300, "/x", "answered 300"],
  ];
  for (const [status, location, problem] of problems) {
    const reading = await readFrom(t, ({ origin }, response) => {
      const headers = location === undefined ? {} : { location: location.replace("$ORIGIN", origin) };
      response.writeHead(status, headers).end("x");
    });
    t.equal(problemOf(reading), `${itsName}: ${problem}`, String(location));
  }
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

void t.test("a redirect does not wait for its body", async (t) => {
  const moved = await readFrom(t, (_url, response) => response.writeHead(302, { location: "/again" }).write(" "));
  t.equal(problemOf(moved), `${itsName}: redirects more than 3 times`);
});

void t.test("a body of exactly the limit is read, and none of a byte more", async (t) => {
  const readUpTo = (maxBodyBytes: number) => readFrom(t, (_url, response) => response.end(normal), { maxBodyBytes });
  t.equal((await readUpTo(normal.length)).problem, null);
  t.match((await readUpTo(normal.length - 1)).problem, /: expected at most \d+ bytes in .*, got more$/);
});

void t.test("the longest feed takes bounded time and memory, in a separate process", async (t) => {
  const all = incidents(1300, 1, 1300);
  const venue = await serveStatuspage(t, () => all);
  const bytes = Buffer.byteLength(JSON.stringify(all));
  t.ok(bytes > 1_900_000 && bytes < 2 * mebibyte, `${bytes} bytes`);
  const program = packagedFile("dist/test/support/notice-load.js");
  const { stdout } = await promisify(execFile)(process.execPath, [program, statuspageAt(venue).api], { env: {} });
  const load = JSON.parse(stdout) as Load;
  t.match(load, { problem: null, notices: 1000 });
  t.ok(load.cpuMs < 2_000, `${load.cpuMs} ms of processor time`);
  t.ok(load.peakBytes < 100 * mebibyte, `${load.peakBytes} bytes at the peak`);
  t.ok(load.heldBytes < 10 * mebibyte, `${load.heldBytes} bytes are retained`);
});

void t.test("a server that does not listen is reported without its query", async (t) => {
  const refused = binanceAt({ origin: `http://user:secret@127.0.0.1:${await freePort()}` });
  const reading = await readerFor(t).read(refused, at, never);
  const problem = `${itsName}: expected an answer, got a refused connection (ECONNREFUSED)`;
  t.equal(problemOf(reading), problem, "the problem contains nothing that may be secret");
  const nothing = { lists: [], feedAt: null, unchanged: false, retryAfterMs: 0 };
  t.same(reading, { problem: reading.problem, unanswered: true, ...nothing });
});

void t.test("a server's words in a problem are bounded and on one line", async (t) => {
  const body = JSON.stringify({ code: -1, msg: `\u001b[31m first\nsecond \u202e${"x".repeat(10_000)}` });
  const reading = await readFrom(t, (_url, response) => response.end(body));
  t.equal(problemOf(reading), `${itsName}: answered an error: code -1, "[31m first second ${"x".repeat(21)}…"`);
  const { origin } = await serve(t, (_url, response) => response.end("?"));
  const long = { ...binanceAt({ origin }), api: `${origin}/${"p".repeat(5000)}` };
  const { problem } = await readerFor(t).read(long, at, never);
  t.ok(problem!.length <= 300);
  t.match(problem, /: expected JSON, got "\?"$/);
});

// How venues' feeds are requested, and how long their answers are remembered.

void t.test("a feed is read over HTTP", async (t) => {
  const venue = await serveStatuspage(t, () => incidents(2, 1));
  const lasting = new AbortController().signal;
  const reading = await readerFor(t).read(statuspageAt(venue), at, lasting);
  t.equal(getEventListeners(lasting, "abort").length, 0);
  t.match(reading, { problem: null, retryAfterMs: 0, feedAt: updated_at });
  const counts = reading.lists.map(({ scope, notices }) => `${notices.length} ${scope}`);
  t.same(counts, ["2 incidents", "0 maintenances"]);
  t.same(pathsOf(venue), ["incidents.json", "scheduled-maintenances.json"]);
  const [{ headers }] = venue.requests as [FeedServer["requests"][number]];
  t.match(headers, { "user-agent": userAgent, accept: "application/json", "accept-encoding": "gzip, br" });
  t.equal(headers["if-none-match"], undefined);
});

void t.test("an unchanged feed is not transferred again, and gives the same lists", async (t) => {
  let etag = '"one"';
  const modified = "Fri, 04 Sep 2026 11:58:00 GMT";
  const answer = statuspage(() => incidents(etag === '"one"' ? 2 : 3, 1));
  const venue = await serve(t, (url, response, request) => {
    if (url.pathname.endsWith("/incidents.json")) response.setHeader("etag", etag);
    else response.setHeader("last-modified", modified);
    if (request.headers["if-none-match"] === etag || request.headers["if-modified-since"])
      return response.writeHead(304).end();
    answer(url, response, request);
  });
  const reader = readerFor(t);
  const source = statuspageAt(venue);
  const first = await reader.read(source, at, never);
  t.equal(first.problem, null);
  t.same(await reader.read(source, at, never), first);
  const third = await reader.read({ ...source, readAt: at }, new Date(+at + 90_000), never);
  t.same(third, { ...first, unchanged: true });
  t.equal(venue.requests[2]!.headers["if-none-match"], '"one"');
  t.equal(venue.requests[3]!.headers["if-modified-since"], modified);
  etag = '"two"';
  const fourth = await reader.read(source, at, never);
  t.equal(fourth.lists[0]!.notices.length, 3);
  const newer = { ...source, feedAt: new Date("2026-09-05T00:00:00Z") };
  t.equal((await reader.read(newer, at, never)).problem, null, "an unchanged feed has not gone back in time");
});

void t.test("a Last-Modified in the future does not freeze a feed", async (t) => {
  for (const modified of ["Fri, 04 Sep 2099 11:58:00 GMT", new Date(Date.now() + 3_600_000).toUTCString(), "soon"]) {
    let count = 2;
    const answer = statuspage(() => incidents(count, 1));
    const venue = await serve(t, (url, response, request) => {
      // as many servers do: it was not modified after that time
      if (request.headers["if-modified-since"] === modified) return response.writeHead(304).end();
      response.setHeader("last-modified", modified);
      answer(url, response, request);
    });
    const reader = readerFor(t);
    await reader.read(statuspageAt(venue), at, never);
    count = 3;
    const { lists } = await reader.read(statuspageAt(venue), at, never);
    t.equal(lists[0]!.notices.length, 3, modified);
  }
});

void t.test("a reading is unchanged only where the previous one was stored", async (t) => {
  const etags = { incidents: '"a"', "scheduled-maintenances": '"b"' };
  let fails = false;
  const answer = statuspage(() => incidents(2, 1));
  const venue = await serve(t, (url, response, request) => {
    const name = /([a-z-]+)\.json$/.exec(url.pathname)![1] as keyof typeof etags;
    if (fails && name === "incidents") return response.writeHead(500).end();
    response.setHeader("etag", etags[name]);
    if (request.headers["if-none-match"] === etags[name]) return response.writeHead(304).end();
    answer(url, response, request);
  });
  const reader = readerFor(t);
  const minute = (minutes: number) => new Date(+at + minutes * 60_000);
  const reads = async (minutes: number, readAt: number | null, unchanged: boolean, why = `minute ${minutes}`) => {
    const source = statuspageAt(venue, { readAt: readAt === null ? null : minute(readAt) });
    const reading = await reader.read(source, minute(minutes), never);
    t.match(reading, fails ? { problem: /500/, unchanged } : { problem: null, unchanged }, why);
    if (!fails) t.equal(reading.lists[0]!.notices.length, 2);
  };
  await reads(0, null, false, "no earlier reading exists");
  await reads(1, 0, true);
  await reads(2, 1, true);
  await reads(3, 1, false, "the previous reading was not stored");
  await reads(4, null, false, "no reading was stored");
  await reads(5, 4.5, false, "another core's reading was stored");
  await reads(6, 5, true);
  fails = true;
  await reads(7, 6, false);
  fails = false;
  await reads(8, 6, false, "the previous reading had a problem");
  await reads(9, 8, true);
  etags.incidents = '"c"';
  await reads(10, 9, false, "one of two documents has changed");
  await reads(11, 10, true);
});

void t.test("a maintenance ends while its feed is unchanged", async (t) => {
  const ends_at = "2026-09-04T13:00:00Z";
  const page = { subdomain: "a", custom_domain: "127.0.0.1", updated_at };
  const report = {
    ...{ title: "Upgrade", report_type: "maintenance", aggregate_state: "maintenance", affected_resources: [] },
    ...{ starts_at: "2026-09-04T11:00:00Z", ends_at },
  };
  const { origin } = await serve(t, (_url, response, request) => {
    response.setHeader("etag", '"mark"');
    if (request.headers["if-none-match"]) return response.writeHead(304).end();
    json(response, {
      data: { type: "status_page", attributes: page },
      included: [{ id: "1", type: "status_report", attributes: report }],
    });
  });
  const reader = readerFor(t);
  let readAt: Date | null = null;
  const reads = async (time: string, expected: object) => {
    const now = new Date(`2026-09-04T${time}Z`);
    const reading = await reader.read(sourceAt("betterstack", `${origin}/index.json`, { readAt }), now, never);
    readAt = now;
    t.equal(reading.problem, null);
    const { over, resolvedAt } = reading.lists[0]!.notices[0]!;
    t.same({ unchanged: reading.unchanged, over, resolvedAt }, expected);
  };
  const before = { over: false, resolvedAt: null };
  const after = { over: true, resolvedAt: new Date(ends_at) };
  await reads("12:00:00", { unchanged: false, ...before });
  await reads("12:59:59.999", { unchanged: true, ...before });
  await reads("13:00:00", { unchanged: false, ...after });
  await reads("13:01:30", { unchanged: true, ...after });
});

void t.test("a document that is not requested for an hour is forgotten", async (t) => {
  const venue = await serve(t, (_url, response) => response.setHeader("etag", '"mark"').end(normal));
  const reader = readerFor(t);
  const validatorSent = async (path: string, minutes: number) => {
    const source = sourceAt("binance-system-status", venue.origin + path);
    await reader.read(source, new Date(+at + minutes * 60_000), never);
    return venue.requests.at(-1)!.headers["if-none-match"];
  };
  await validatorSent("/one", 0);
  await validatorSent("/other", 30);
  t.equal(await validatorSent("/other", 61), '"mark"');
  t.equal(await validatorSent("/one", 61), undefined);
  t.equal(await validatorSent("/one", 62), '"mark"');
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
  t.equal(venue.requests[2]!.headers["if-none-match"], undefined);
  await reader.read(source, at, never);
  t.equal(venue.requests[4]!.headers["if-none-match"], '"mark"');
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
  const { problem } = await reader.read(binanceAt(venue), at, never);
  t.match(problem, /: answered 304/, "the server gave no validator");
});

void t.test("a feed is as old as its oldest document", async (t) => {
  const older = "2026-09-04T10:00:00Z";
  const venue = await serve(t, (url, response) => {
    const page = { ...pageOf(url), ...(url.pathname.endsWith("/incidents.json") && { updated_at: older }) };
    json(response, { page, incidents: [], scheduled_maintenances: [] });
  });
  const reading = await readerFor(t).read(statuspageAt(venue), at, never);
  t.same(reading.feedAt, new Date(older));
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
  t.match(venue.requests[1]!.headers, { "if-none-match": undefined, "if-modified-since": undefined });
});

void t.test("Retry-After is honoured, in seconds and as a date", async (t) => {
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  // a server that asks for a pause is not sent the second request
  const cases: [status: number, retryAfter: string, retryAfterMs: number, requests: number][] = [
    [429, "120", 120_000, 1],
    [503, inAMinute, 60_000, 1],
    [429, "", 0, 1],
    [503, "", 0, 2],
    [418, "300", 300_000, 1],
    [418, "", 0, 1],
    [429, "3000", 3_000_000, 1],
    [429, "999999", 3_600_000, 1],
    [429, "soon", 0, 1],
    [500, "60", 0, 2],
  ];
  for (const [status, retryAfter, retryAfterMs, requests] of cases) {
    const venue = await serve(t, (_url, response) =>
      response.writeHead(status, retryAfter ? { "retry-after": retryAfter } : {}).end("slow down"),
    );
    const reading = await readerFor(t).read(statuspageAt(venue), at, never);
    const which = `${status} ${retryAfter}`;
    if (retryAfter === inAMinute) t.ok(reading.retryAfterMs > 1000 && reading.retryAfterMs <= retryAfterMs, which);
    else t.equal(reading.retryAfterMs, retryAfterMs, which);
    t.equal(venue.requests.length, requests, which);
    t.same(reading.lists, []);
    const problem = `venue/api/v2/incidents.json: answered ${status}`;
    t.equal(problemOf(reading), requests === 1 ? problem : `${problem}; and 1 more document`);
  }
});

void t.test("a failed document does not affect the others", async (t) => {
  const venue = await serveStatuspage(t, (_page, response) => {
    response.writeHead(500).end("oops");
    return null;
  });
  const reading = await readerFor(t).read(statuspageAt(venue), at, never);
  t.equal(problemOf(reading), "venue/api/v2/incidents.json: answered 500");
  const scopes = reading.lists.map(({ scope }) => scope);
  t.same(scopes, ["maintenances"], "the failed document's list is absent, not empty");
});

void t.test("OKX's documents make one list", async (t) => {
  const ongoing = { ...okxEntry, state: "ongoing", begin: "1788000000000", end: "1788003600000" };
  const venue = await serve(t, (url, response) => {
    const state = url.searchParams.get("state");
    const ended = { ...ongoing, state, begin: "1787000000000" };
    json(response, okxBody(...(state === "canceled" ? [] : state === null ? [ongoing] : [ongoing, ended])));
  });
  const source = sourceAt("okx-system-status", `${venue.origin}/api/v5/system/status`);
  const reading = await readerFor(t).read(source, at, never);
  t.equal(reading.problem, null);
  t.equal(venue.requests.length, 3);
  t.match(reading.lists, [
    { scope: "notices", listedFrom: null, notices: [{ status: "ongoing" }, { status: "completed" }] },
  ]);
  t.equal(reading.lists[0]!.notices.length, 2);
});

void t.test("an aborted reading is no problem of the venue", async (t) => {
  const venue = await serve(t, () => {});
  const reader = readerFor(t);
  const ending = new AbortController();
  const reading = reader.read(binanceAt(venue), at, ending.signal);
  await until(() => venue.requests.length === 1);
  const reason = new Error("stopping");
  ending.abort(reason);
  await t.rejects(reading, reason);
  await t.rejects(reader.read(binanceAt(venue), at, ending.signal), reason);
  t.equal(venue.requests.length, 1);
});

void t.test("the pause between two documents can be aborted", async (t) => {
  const venue = await serveStatuspage(t, () => []);
  const reader = readerFor(t, { pauseMs: 600_000 });
  const ending = new AbortController();
  const reading = reader.read(statuspageAt(venue), at, ending.signal);
  await until(() => venue.requests.length === 1);
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
  const startMs = performance.now();
  const order: string[] = [];
  const turn = async (name: string, host: string) => {
    await pace.turn(host, 40, never);
    order.push(name);
    return performance.now() - startMs;
  };
  const turns = [turn("a1", "a"), turn("a2", "a"), turn("a3", "a"), turn("b1", "b")];
  const [, , thirdMs] = await Promise.all(turns);
  t.same(order, ["a1", "b1", "a2", "a3"]);
  t.ok(thirdMs! > 75, "two pauses, less the rounding of timers");
});
