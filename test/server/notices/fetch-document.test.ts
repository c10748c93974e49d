/** How one document of a feed is fetched: redirects, bodies and connections, and their limits. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import t from "tap";
import { packagedFile } from "../../../shared/config/package.js";
import { freePort } from "../../support/free-port.js";
import { ending } from "../../support/hostile-answers.js";
import type { Load } from "../../support/notice-load.js";
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
} from "../../support/feed-server.js";
import { serveTcp } from "../../support/tcp-server.js";

const mebibyte = 1024 * 1024;

void t.test("compressed answers are decoded", async (t) => {
  const plain = Buffer.from(normal);
  const readEncoded = async (encoding: string, body: Buffer) =>
    problemOf(await readFrom(t, (_url, response) => response.setHeader("content-encoding", encoding).end(body)));
  const gzip = gzipSync(normal);
  for (const [encoding, body] of Object.entries({
    gzip,
    "x-gzip": gzip,
    br: brotliCompressSync(normal),
    identity: plain,
  }))
    t.equal(await readEncoded(encoding, body), undefined, encoding);
  const problem = `${itsName}: expected gzip, br or no content-encoding, got "zstd"`;
  t.equal(await readEncoded("zstd", plain), problem, "an unrequested encoding is not decoded");
});

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

void t.test("an endless answer behind gzip is given up, and a redirect does not wait for its body", async (t) => {
  const beginning = gzipSync(normal).subarray(0, 10);
  const late = await readFrom(t, (_url, response) => response.setHeader("content-encoding", "gzip").write(beginning), {
    deadlineMs: 200,
  });
  t.equal(problemOf(late), `${itsName}: expected a whole answer within 0.2 s`);
  const moved = await readFrom(t, (_url, response) => response.writeHead(302, { location: "/again" }).write(" "));
  t.equal(problemOf(moved), `${itsName}: redirects more than 3 times`);
});

void t.test("bodies are read up to a limit, after decompression", async (t) => {
  const zeros = Buffer.alloc(64 * mebibyte);
  const bombs = {
    gzip: gzipSync(zeros),
    br: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    identity: zeros,
  };
  for (const [encoding, body] of Object.entries(bombs)) {
    const before = process.resourceUsage().maxRSS;
    const reading = await readFrom(t, (_url, response) => {
      response.on("error", () => {});
      response.setHeader("content-encoding", encoding).end(body);
    });
    t.equal(
      problemOf(reading),
      `${itsName}: expected at most 2097152 bytes in at most 8192 chunks, got more`,
      encoding,
    );
    const grownKib = process.resourceUsage().maxRSS - before;
    t.ok(grownKib < 40 * 1024, `${encoding}: ${grownKib} KiB`);
  }
  const small = await readFrom(t, (_url, response) => response.end(normal), { maxBodyBytes: normal.length });
  t.equal(small.problem, null, "a body of exactly the limit is read");
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

void t.test("unusual answers are read, or reported with their status", async (t) => {
  const ok = "HTTP/1.1 200 OK\r\n\r\n";
  const answers: [bytes: string, problem: string | undefined][] = [
    ["HTTP/1.1 999 Huh\r\ncontent-length: 0\r\n\r\n", `${itsName}: answered 999`],
    [`HTTP/1.1 429 No\r\nretry-after: ${"9".repeat(400)}\r\n\r\n`, `${itsName}: answered 429`],
    ["HTTP/1.1 100 Continue\r\n\r\n", `${itsName}: expected an answer, got a broken connection (ECONNRESET)`],
    // early hints and a byte order mark are accepted
    [`HTTP/1.1 103 Hints\r\nlink: </>\r\n\r\n${ok}\ufeff${normal}`, undefined],
  ];
  for (const [bytes, problem] of answers) {
    const origin = `http://127.0.0.1:${await serveTcp(t, ending(bytes))}`;
    const reading = await readerFor(t).read(binanceAt({ origin }), at, never);
    t.equal(problemOf(reading), problem, JSON.stringify(bytes).slice(0, 80));
  }
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
