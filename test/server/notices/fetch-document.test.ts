/** How one document of a feed is fetched: redirects, bodies and connections, and their limits. */
import { execFile } from "node:child_process";
import type { ServerResponse } from "node:http";
import net, { type AddressInfo } from "node:net";
import { promisify } from "node:util";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { packagedFile } from "../../../shared/config/package.js";
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
  type FeedAnswer,
  serve,
  serveStatuspage,
  statuspageAt,
  userAgent,
  type FeedServer,
} from "../../support/feed-server.js";

const mebibyte = 1024 * 1024;

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
  const venue: FeedServer = await serve(t, (_url, response) =>
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

void t.test("endless answers are given up", async (t) => {
  const drip = (response: ServerResponse) => {
    const timer = setInterval(() => response.write(" "), 10);
    response.on("close", () => clearInterval(timer));
  };
  const slow: Record<string, FeedAnswer> = {
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
    t.equal(problemOf(reading), `${itsName}: expected at most 16777216 bytes, got more`, encoding);
    const grownKib = process.resourceUsage().maxRSS - before;
    t.ok(grownKib < 64 * 1024, `${encoding}: ${grownKib} KiB`);
  }
  const small = await readFrom(t, (_url, response) => response.end(normal), { maxBodyBytes: normal.length });
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
  const body = JSON.stringify({ code: -1, msg: `\u001b[31m first\nsecond \u202e${"x".repeat(10_000)}` });
  const reading = await readFrom(t, (_url, response) => response.end(body));
  t.equal(problemOf(reading), `${itsName}: answered an error: code -1, "[31m first second ${"x".repeat(21)}…"`);
  const venue = await serve(t, (_url, response) => response.end("?"));
  const long = binanceAt(venue);
  long.api = `${venue.origin}/${"p".repeat(5000)}`;
  const { problem } = await readerFor(t).read(long, at, never);
  t.ok(problem!.length <= 300);
  t.match(problem, /p: expected JSON, got "\?"$/);
});
