/** One measurement, of servers that answer well and badly in all possible ways. */
import type { IncomingMessage } from "node:http";
import net, { type AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import t from "tap";
import { unservedBy, type Measurement } from "../../../probe/rest/measurement.js";
import { makeRateLimitBackoff } from "../../../probe/rest/rate-limit-backoff.js";
import { makeResolver } from "../../../probe/network/resolver.js";
import { makeRest } from "../../../probe/rest/rest.js";
import { saying, serveTcp } from "../../support/tcp-server.js";
import { endpointAt, measured, measuring, mebibyte, serve, userAgent } from "../../support/measured-endpoint.js";

void t.test("a good answer is measured on a fresh and then on a kept connection", async (t) => {
  let seen: IncomingMessage | undefined;
  const url = await serve(t, (request, response) => {
    seen = request;
    setTimeout(() => response.end(`{"price":"1"}`), 80);
  });
  const measure = measuring(t, endpointAt(url));
  const fresh = (await measure()) as Measurement;
  t.match(fresh, { good: true, fault: null, httpStatus: 200, dnsUs: null });
  t.type(fresh.connectUs, "number");
  t.ok(Number.isInteger(fresh.latencyUs), "whole microseconds");
  t.ok(fresh.latencyUs! >= 79_000 && fresh.latencyUs! < 1_000_000);
  t.ok(fresh.firstByteUs! <= fresh.latencyUs!);
  const kept = (await measure()) as Measurement;
  t.match(kept, { good: true, connectUs: null, tlsUs: null });
  t.ok(kept.latencyUs! >= 79_000 && kept.latencyUs! < 1_000_000);
  t.equal(seen?.headers["user-agent"], userAgent);
  t.equal(seen?.headers["accept-encoding"], "identity");
  t.equal(seen?.url, "/x?y=1");
});

void t.test("an answer proves that this machine has a way out", async (t) => {
  const url = await serve(t, (_request, response) => response.end("{}"));
  const resolver = makeResolver([]);
  const rest = makeRest({ userAgent, resolver });
  t.teardown(() => rest.close());
  const sinceMs = performance.now() - 1000;
  t.equal(await resolver.wayOut("other.test", sinceMs), "unknown");
  await rest.endpoint(endpointAt(url))(new AbortController().signal);
  t.equal(await resolver.wayOut("other.test", sinceMs), "open");
});

void t.test("POST sends its body as JSON, and the chain's head is read", async (t) => {
  let body = "";
  const url = await serve(t, (request, response) => {
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => response.end(`{"result":"0x10d4f"}`));
  });
  const sample = await measured(
    t,
    endpointAt(url, {
      method: "POST",
      body: { method: "eth_blockNumber" },
      proof: "$.result",
      head: { path: "$.result", encoding: "hex" },
    }),
  );
  t.equal(body, `{"method":"eth_blockNumber"}`);
  t.match(sample, { good: true, head: 68943 });
});

const answers: {
  name: string;
  status?: number;
  headers?: Record<string, string>;
  body: string | Buffer;
  expected: Partial<Measurement>;
}[] = [
  { name: "redirect", status: 301, headers: { location: "/" }, body: "", expected: { fault: "http", httpStatus: 301 } },
  { name: "firewall", status: 403, body: "no", expected: { fault: "blocked", httpStatus: 403 } },
  { name: "geo-block", status: 451, body: "no", expected: { fault: "blocked", httpStatus: 451 } },
  { name: "ban", status: 418, body: "no", expected: { fault: "limited", httpStatus: 418 } },
  { name: "server error", status: 500, body: "{}", expected: { fault: "http", httpStatus: 500 } },
  { name: "page of HTML", body: "<html>", expected: { fault: "body", httpStatus: 200 } },
  { name: "empty body", body: "", expected: { fault: "body" } },
  { name: "error inside", body: `{"code":1}`, expected: { fault: "body" } },
  { name: "null as proof", body: `{"price":null}`, expected: { fault: "body" } },
  { name: "zero as proof", body: `{"price":0}`, expected: { good: true, fault: null } },
  {
    name: "gzip unasked",
    headers: { "content-encoding": "gzip" },
    body: gzipSync(`{"price":1}`),
    expected: { good: true },
  },
  {
    name: "gzip bomb",
    headers: { "content-encoding": "gzip" },
    body: gzipSync(Buffer.alloc(64 * mebibyte)),
    expected: { fault: "body" },
  },
  {
    name: "unknown encoding",
    headers: { "content-encoding": "zip" },
    body: `{"price":1}`,
    expected: { fault: "body" },
  },
];

for (const { name, status = 200, headers, body, expected } of answers)
  void t.test(`${name}: ${expected.fault ?? "good"}`, async (t) => {
    const url = await serve(t, (_request, response) => response.writeHead(status, headers).end(body));
    const sample = await measured(t, endpointAt(url));
    t.match(sample, { good: !expected.fault, ...expected });
    t.type(sample.latencyUs, "number", "the answer was complete");
  });

void t.test("an address where nothing listens: connect", async (t) => {
  const server = net.createServer().listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  const sample = await measured(t, endpointAt(`http://127.0.0.1:${port}/`));
  t.match(sample, { good: false, fault: "connect", latencyUs: null });
});

void t.test("a reset at the request: closed", async (t) => {
  const port = await serveTcp(t, (socket) => socket.on("data", () => socket.resetAndDestroy()));
  const sample = await measured(t, endpointAt(`http://127.0.0.1:${port}/`));
  t.match(sample, { fault: "closed", latencyUs: null });
});

void t.test("a connection closed in mid-answer: closed", async (t) => {
  const port = await serveTcp(t, (socket) =>
    socket.on("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{")),
  );
  const sample = await measured(t, endpointAt(`http://127.0.0.1:${port}/`));
  t.match(sample, { fault: "closed", httpStatus: 200, latencyUs: null });
});

void t.test("a server without TLS: tls", async (t) => {
  const port = await serveTcp(t, saying("HTTP/1.1 400 Bad Request\r\n\r\n"));
  const sample = await measured(t, endpointAt(`https://127.0.0.1:${port}/`));
  t.match(sample, { fault: "tls", latencyUs: null });
  t.type(sample.connectUs, "number");
});

void t.test("a reset in the TLS handshake: tls", async (t) => {
  const port = await serveTcp(t, (socket) => socket.on("data", () => socket.resetAndDestroy()));
  const sample = await measured(t, endpointAt(`https://127.0.0.1:${port}/`));
  t.match(sample, { fault: "tls" });
});

void t.test("an answer that is not HTTP: body", async (t) => {
  const port = await serveTcp(t, saying("SSH-2.0-OpenSSH_9.7\r\n"));
  const sample = await measured(t, endpointAt(`http://127.0.0.1:${port}/`));
  t.match(sample, { fault: "body" });
});

void t.test("endless headers: body, and reading is bounded", async (t) => {
  const header = `x-padding: ${"x".repeat(1000)}\r\n`;
  const port = await serveTcp(t, (socket) =>
    socket.on("data", () => socket.write(`HTTP/1.1 200 OK\r\n${header.repeat(100)}`)),
  );
  const sample = await measured(t, endpointAt(`http://127.0.0.1:${port}/`));
  t.match(sample, { fault: "body" });
});

const silences: { name: string; talk: (socket: net.Socket) => void; secure?: boolean }[] = [
  { name: "never answers", talk: (socket) => socket.resume() },
  { name: "never answers the TLS handshake", talk: (socket) => socket.resume(), secure: true },
  {
    name: "drips its body",
    talk: (socket) => {
      socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
      const drip = setInterval(() => socket.write(" "), 20);
      socket.on("close", () => clearInterval(drip));
    },
  },
];

for (const { name, talk, secure } of silences)
  void t.test(`a server that ${name}: timeout, and the connection is closed`, async (t) => {
    let closed: Promise<unknown> | undefined;
    const port = await serveTcp(t, (socket) => {
      closed = new Promise((resolve) => socket.once("close", resolve));
      talk(socket);
    });
    const url = `${secure ? "https" : "http"}://127.0.0.1:${port}/`;
    const begunMs = performance.now();
    const sample = await measured(t, endpointAt(url, { timeoutMs: 300 }));
    const tookMs = performance.now() - begunMs;
    t.match(sample, { fault: "timeout", latencyUs: null });
    t.ok(tookMs >= 295, `${tookMs} ms`);
    await closed;
  });

void t.test("an endless body: body, and reading is bounded", async (t) => {
  let sentBytes = 0;
  let closed: Promise<unknown> | undefined;
  const port = await serveTcp(t, (socket) => {
    closed = new Promise((resolve) => socket.once("close", resolve));
    const chunk = Buffer.alloc(65536, " ");
    function pour() {
      if (!socket.destroyed) socket.write(chunk, pour);
      sentBytes += chunk.length;
    }
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      pour();
    });
  });
  const sample = await measured(t, endpointAt(`http://127.0.0.1:${port}/`));
  t.match(sample, { fault: "body", latencyUs: null, httpStatus: 200 });
  await closed;
  t.ok(sentBytes < 32 * mebibyte, `the server sent ${sentBytes} bytes`);
});

void t.test("Retry-After is honoured: no request is sent within it, and its slots are unserved", async (t) => {
  let requests = 0;
  let limited = true;
  const url = await serve(t, (_request, response) => {
    requests += 1;
    if (limited) response.writeHead(429, { "retry-after": "1" }).end("slow");
    else response.end(`{"price":1}`);
  });
  const measure = measuring(t, endpointAt(url));
  t.match(await measure(), { fault: "limited", httpStatus: 429 });
  t.same(await measure(), unservedBy("limited"));
  t.equal(requests, 1, "no more requests were sent");
  limited = false;
  await new Promise((resolve) => setTimeout(resolve, 1050));
  t.match(await measure(), { good: true });
});

for (const headers of [{ "retry-after": "30" }, {}])
  void t.test(`a pause holds for all endpoints of its origin, with ${JSON.stringify(headers)}`, async (t) => {
    const paths: string[] = [];
    const url = await serve(t, (request, response) => {
      paths.push(request.url!);
      response.writeHead(429, headers).end("slow");
    });
    const elsewhere = await serve(t, (_request, response) => response.end(`{"price":1}`));
    const rest = makeRest({ userAgent, resolver: makeResolver([]) });
    t.teardown(() => rest.close());
    const [first, second, other] = [new URL("/first", url).href, new URL("/second", url).href, elsewhere].map((href) =>
      rest.endpoint(endpointAt(href)),
    );
    const { signal } = new AbortController();
    t.match(await first!(signal), { fault: "limited", httpStatus: 429 });
    t.same(await second!(signal), unservedBy("limited"));
    t.same(await first!(signal), unservedBy("limited"));
    t.same(paths, ["/first"], "no more requests were sent");
    t.match(await other!(signal), { good: true });
  });

void t.test("rate limits without Retry-After back off longer each time", (t) => {
  let nowMs = 0;
  const pauses = makeRateLimitBackoff(() => nowMs);
  const pausedS = (askedMs = 0) => {
    const fromMs = nowMs;
    pauses.limited("o", askedMs);
    pauses.limited("o", askedMs);
    while (pauses.isPaused("o")) nowMs += 1000;
    return (nowMs - fromMs) / 1000;
  };
  const six = Array.from({ length: 6 }, () => pausedS());
  t.same(six, [30, 60, 120, 120, 120, 120]);
  t.equal(pausedS(7000), 7, "Retry-After overrides the backoff");
  t.equal(pausedS(), 120, "the backoff continues afterwards");
  pauses.served("o");
  t.equal(pausedS(), 30);
  t.end();
});

void t.test("a kept connection that closed between slots is no fault; the next slot is measured", async (t) => {
  let connections = 0;
  const port = await serveTcp(t, (socket) => {
    connections += 1;
    let requests = 0;
    socket.on("data", () => {
      requests += 1;
      if (requests === 1) socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"price":1}`);
      else socket.resetAndDestroy();
    });
  });
  const measure = measuring(t, endpointAt(`http://127.0.0.1:${port}/`));
  const opening = measure();
  // a close counts as already in flight if it arrives within the time that the opening took: here, as long as a busy
  // machine may need
  const begunMs = performance.now();
  while (performance.now() < begunMs + 200);
  t.match(await opening, { good: true });
  t.same(await measure(), { unmeasured: "stale" });
  t.match(await measure(), { good: true });
  t.equal(connections, 2);
});
