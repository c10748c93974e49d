/**
 * How one document of a feed is fetched: redirects, the longest body, and the words for what comes instead. Hostile
 * answers are in hostile-servers.test.ts.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import t from "tap";
import { packagedFile } from "../../../../shared/config/package.js";
import { freePort } from "../../../support/free-port.js";
import type { Load } from "../../../support/notice-load.js";
import {
  at,
  binanceAt,
  incidents,
  itsName,
  never,
  normal,
  problemOf,
  readerFor,
  readFrom,
  serve,
  serveStatuspage,
  statuspageAt,
  userAgent,
} from "../../../support/feed-server.js";

const mebibyte = 1024 * 1024;

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
