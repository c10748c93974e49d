import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { LookupFunction } from "node:net";
import net, { type AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { isUnmeasured, unservedBy, type Measurement } from "../../../probe/rest/measurement.js";
import { makeClockWatch } from "../../../probe/network/clock-error.js";
import { makeRateLimitBackoff } from "../../../probe/rest/rate-limit-backoff.js";
import { makeResolver } from "../../../probe/network/resolver.js";
import { makeRest } from "../../../probe/rest/rest.js";
import type { RestEndpoint } from "../../../shared/registry/registry.js";
import { saying, serveTcp } from "../../support/tcp-server.js";
import { until } from "../../support/until.js";

const userAgent = "venuewatch/0.1.0 (+http://localhost; region=eu)";
const mebibyte = 1024 * 1024;

function endpointAt(url: string, more: Partial<RestEndpoint> = {}) {
  return {
    name: "a",
    label: "A",
    method: "GET",
    url,
    expectStatus: 200,
    proof: "$.price",
    cadenceMs: 5000,
    timeoutMs: 2000,
    ...more,
  } satisfies RestEndpoint;
}

/** Measures one endpoint several times over the same connections. */
function measuring(t: Test, endpoint: RestEndpoint, lookup?: LookupFunction, hosts: string[] = []) {
  const rest = makeRest({ userAgent, resolver: makeResolver(hosts, lookup) });
  t.teardown(() => rest.close());
  const measure = rest.endpoint(endpoint);
  return () => measure(new AbortController().signal);
}

async function measured(t: Test, endpoint: RestEndpoint): Promise<Measurement> {
  const outcome = await measuring(t, endpoint)();
  if (isUnmeasured(outcome)) throw new Error(outcome.unmeasured);
  return outcome;
}

/** An HTTP server; each request goes to `answer`. */
async function serve(t: Test, answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x?y=1`;
}

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
  {
    name: "redirect",
    status: 301,
    headers: { location: "/" },
    body: "",
    expected: { fault: "http", httpStatus: 301 },
  },
  {
    name: "firewall",
    status: 403,
    body: "no",
    expected: { fault: "blocked", httpStatus: 403 },
  },
  {
    name: "geo-block",
    status: 451,
    body: "no",
    expected: { fault: "blocked", httpStatus: 451 },
  },
  {
    name: "ban",
    status: 418,
    body: "no",
    expected: { fault: "limited", httpStatus: 418 },
  },
  {
    name: "server error",
    status: 500,
    body: "{}",
    expected: { fault: "http", httpStatus: 500 },
  },
  {
    name: "page of HTML",
    body: "<html>",
    expected: { fault: "body", httpStatus: 200 },
  },
  { name: "empty body", body: "", expected: { fault: "body" } },
  { name: "error inside", body: `{"code":1}`, expected: { fault: "body" } },
  {
    name: "null as proof",
    body: `{"price":null}`,
    expected: { fault: "body" },
  },
  {
    name: "zero as proof",
    body: `{"price":0}`,
    expected: { good: true, fault: null },
  },
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

const silences: {
  name: string;
  talk: (socket: net.Socket) => void;
  secure?: boolean;
}[] = [
  { name: "never answers", talk: (socket) => socket.resume() },
  {
    name: "never answers the TLS handshake",
    talk: (socket) => socket.resume(),
    secure: true,
  },
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

/** Resolves only names in `known`, to loopback. */
const knowing =
  (...known: string[]): LookupFunction =>
  (host, _options, callback) => {
    const missing = Object.assign(new Error(`no ${host}`), {
      code: "ENOTFOUND",
    });
    process.nextTick(() =>
      known.includes(host) ? callback(null, [{ address: "127.0.0.1", family: 4 }]) : callback(missing, []),
    );
  };

void t.test("a host that does not resolve while others do: dns", async (t) => {
  const endpoint = endpointAt("http://gone.test/");
  const hosts = ["gone.test", "here.test"];
  const measure = measuring(t, endpoint, knowing("here.test"), hosts);
  t.match(await measure(), { fault: "dns", latencyUs: null });
});

void t.test("when no host resolves, it is probe trouble and no sample", async (t) => {
  const endpoint = endpointAt("http://gone.test/");
  const measure = measuring(t, endpoint, knowing(), ["gone.test", "here.test"]);
  t.same(await measure(), { unmeasured: "resolver" });
});

void t.test("a resolver that hangs for all hosts is probe trouble", async (t) => {
  const endpoint = endpointAt("http://gone.test/", { timeoutMs: 100 });
  const hanging: LookupFunction = () => {};
  const measure = measuring(t, endpoint, hanging, ["gone.test", "here.test"]);
  t.same(await measure(), { unmeasured: "resolver" });
});

void t.test("look-ups before the resolver died do not put the blame on a venue afterwards", async (t) => {
  const known = ["gone.test", "here.test"];
  const lookup: LookupFunction = (...asked) => knowing(...known)(...asked);
  const rest = makeRest({
    userAgent,
    resolver: makeResolver(["gone.test", "here.test", "never.test"], lookup),
  });
  t.teardown(() => rest.close());
  const measured = (host: string) => rest.endpoint(endpointAt(`http://${host}:9/`))(new AbortController().signal);
  t.match(await measured("never.test"), { fault: "dns" });
  known.splice(0);
  t.same(await measured("gone.test"), { unmeasured: "resolver" });
});

void t.test("a look-up queued behind those of silent name servers is probe trouble", async (t) => {
  let running = 0;
  const queue: (() => void)[] = [];
  const silent = ["silent1.test", "silent2.test"];
  const well = ["well.test", "other.test"];
  // As Node does it: two at a time.
  const lookup: LookupFunction = (host, options, callback) => {
    queue.push(() => {
      const answer = () => {
        running -= 1;
        knowing(...well)(host, options, callback);
        turn();
      };
      // The system gives up on them at some time, and then the others run.
      setTimeout(answer, silent.includes(host) ? 200 : 0);
    });
    turn();
  };
  const turn = () => {
    if (running >= 2 || queue.length === 0) return;
    running += 1;
    queue.shift()!();
  };
  const hosts = [...silent, ...well];
  const resolver = makeResolver(hosts, lookup, 2);
  const rest = makeRest({ userAgent, resolver });
  t.teardown(() => rest.close());
  const { signal } = new AbortController();
  const measured = (host: string) => rest.endpoint(endpointAt(`http://${host}:9/`, { timeoutMs: 100 }))(signal);
  const outcomes = await Promise.all([...silent, "well.test"].map(measured));
  t.match(outcomes, [{ fault: "dns" }, { fault: "dns" }, { unmeasured: "resolver" }]);
});

void t.test("the time of a successful look-up is recorded as dns", async (t) => {
  const url = await serve(t, (_request, response) => response.end(`{"price":1}`));
  const named = url.replace("127.0.0.1", "here.test");
  const measure = measuring(t, endpointAt(named), knowing("here.test"));
  const sample = (await measure()) as Measurement;
  t.ok(sample.good);
  t.type(sample.dnsUs, "number");
});

void t.test("the dates of three hosts' answers give this machine's clock error", async (t) => {
  const url = await serve(t, (_request, response) => response.end(`{"price":1}`));
  const hosts = ["a.test", "b.test", "c.test"];
  const resolver = makeResolver(hosts, knowing(...hosts));
  const clock = makeClockWatch();
  const rest = makeRest({ userAgent, resolver, clock });
  t.teardown(() => rest.close());
  t.equal(clock.read(), null);
  for (const host of hosts) {
    const endpoint = endpointAt(url.replace("127.0.0.1", host));
    await rest.endpoint(endpoint)(new AbortController().signal);
  }
  await until(() => clock.read() !== null, 5000, 50);
  const { errorMs, withinMs } = clock.read()!;
  t.ok(Math.abs(errorMs) <= withinMs, `${errorMs} ± ${withinMs}`);
});

void t.test("a host with silent name servers occupies one look-up, for any number of requests", async (t) => {
  let lookups = 0;
  let answer: (() => void) | undefined;
  const slow: LookupFunction = (_host, _options, callback) => {
    lookups += 1;
    answer = () => callback(null, [{ address: "127.0.0.1", family: 4 }]);
  };
  const url = await serve(t, (_request, response) => response.end(`{"price":1}`));
  const measure = measuring(t, endpointAt(url.replace("127.0.0.1", "slow.test"), { timeoutMs: 20_000 }), slow);
  const asked = Array.from({ length: 8 }, measure);
  await until(() => answer !== undefined, 5000, 5);
  t.equal(lookups, 1);
  answer!();
  for (const outcome of await Promise.all(asked)) t.match(outcome, { good: true, fresh: true });
  t.equal(lookups, 1, "all requests shared one look-up");
});
