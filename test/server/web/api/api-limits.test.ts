import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import t, { type Test } from "tap";
import type { ConnectionLimits } from "../../../../server/web/api/client-limits.js";
import { queuedPool, QueueTimeout } from "../../../../server/web/api/query-queue.js";
import { publishedRules } from "../../../../server/web/board/thresholds.js";
import { packagedFile, version } from "../../../../shared/config/package.js";
import { openPool } from "../../../../shared/database/pool.js";
import { makeLog } from "../../../../shared/log/log.js";
import { loadRegistry } from "../../../../shared/registry/load-registry.js";
import { rulesRow } from "../../../../shared/rules/engine-rules.js";
import { type Api, serve } from "../../../support/api.js";
import { until } from "../../../support/until.js";

const registry = await loadRegistry(packagedFile("registry/exchanges.json"));

/** For requests that need no database. */
async function serveWithoutDatabase(
  t: Test,
  options: { rateLimit: number; trustProxy?: string[]; host?: string; connectionLimits?: ConnectionLimits },
) {
  const pool = openPool("postgres://127.0.0.1:1/none", { applicationName: "test", log: makeLog("test", "error") });
  t.teardown(() => pool.close());
  return serve(t, { pool, registry, ...options });
}

/** The status of a request with these entries in this header. */
async function statusOf(api: Api, entries: readonly string[] = [], header = "x-forwarded-for"): Promise<number> {
  const headers = entries.length > 0 ? { [header]: entries.join(", ") } : {};
  return (await api.ask("/v1/thresholds", { headers })).status;
}

void t.test("a client with too many requests gets 429 and Retry-After", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 3 });
  const first = await api.ask("/v1/thresholds");
  t.match(first.headers.ratelimit, /^limit=3, remaining=2, reset=\d+$/);
  // no header identifies the client, as a shared cache would reveal it
  t.equal(first.headers["ratelimit-policy"], "3;w=60");
  await api.ask("/v1/none");
  await api.ask("/v1/status?category=nope");

  const { status, headers } = await api.ask("/v1/thresholds");
  t.equal(status, 429, "every request counts, including errors");
  const waitS = Number(headers["retry-after"]);
  t.ok(waitS >= 1 && waitS <= 60, "Retry-After gives the wait");
  t.match(headers, { ratelimit: /remaining=0\b/, "cache-control": "no-store" });
  t.equal(headers["access-control-allow-origin"], "*", "scripts of other pages can read it");
});

void t.test("requests for health and preflight requests are neither limited nor counted", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 1 });
  const areAnswered = async () => {
    const health = await api.ask("/healthz");
    t.equal(health.status, 200);
    t.notOk(health.headers.ratelimit);
    t.equal((await api.ask("/readyz")).status, 503, "not ready without a database");
    t.equal((await api.ask("/v1/status", { method: "OPTIONS" })).status, 204);
  };
  for (let i = 0; i < 3; i++) await areAnswered();
  t.equal((await api.ask("/v1/thresholds", { method: "HEAD" })).status, 200);
  t.equal(await statusOf(api), 429);
  for (let i = 0; i < 3; i++) await areAnswered();
});

void t.test("429 is a problem document in every format", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 1 });
  t.equal(await statusOf(api), 200);
  for (const path of ["/v1/thresholds", "/v1/incidents?format=csv", "/v1/none", "/v1/targets/okx?range=x"])
    for (const method of ["GET", "HEAD"]) {
      const headers = { "content-type": "application/problem+json", "retry-after": /./ };
      t.match(await api.ask(path, { method }), { status: 429, headers }, `${method} ${path}`);
    }
});

interface Published {
  version: string;
  rules: { name: string; value: number; unit: string; reason: string }[];
  stalls: { venue: string; component: string }[];
}

async function published(t: Test): Promise<Published> {
  const api = await serveWithoutDatabase(t, { rateLimit: 0 });
  return (await api.ask<Published>("/v1/thresholds")).body;
}

void t.test("the rules are published without a database, with stall thresholds and reasons", async (t) => {
  const body = await published(t);
  t.equal(body.version, version);
  t.strictSame(
    body.stalls.map(({ venue, component }) => `${venue} ${component}`),
    registry.venues.flatMap(({ id, socket }) => (socket?.streams ?? []).map(({ name }) => `${id} ws:${name}`)),
  );
  t.ok(body.rules.every(({ reason }) => reason.length > 20));
});

void t.test("spec: the published thresholds are the engine's own", async (t) => {
  const { rules } = await published(t);
  const shown = Object.fromEntries(rules.map(({ name, value, unit }) => [name, [value, unit]]));
  const own: Record<string, [value: number, unit: string]> = {
    // error rates
    degradedBadShare: [rulesRow.degraded_bad_share, "share"],
    outageBadShare: [rulesRow.outage_bad_share, "share"],
    // the latency multiple, and its floor
    slowMultiple: [rulesRow.slow_multiple, "times"],
    slowFloorMs: [rulesRow.slow_floor_ms, "ms"],
    // below these, a state or a typical latency is unknown
    minSamples: [rulesRow.min_samples, "samples"],
    typicalMinHours: [rulesRow.typical_min_hours, "hours"],
    recoveryHoldMs: [rulesRow.recovery_hold_ms, "ms"],
    // flap damping
    flapOpenings: [rulesRow.flap_openings, "incidents"],
    flapWithinMs: [rulesRow.flap_within_ms, "ms"],
    flapHoldMs: [rulesRow.flap_hold_ms, "ms"],
    // below these, a percentile is null
    p50MinAnswers: [3, "samples"],
    p95MinAnswers: [10, "samples"],
  };
  for (const [name, rule] of Object.entries(own)) t.strictSame(shown[name], rule, name);
  t.equal(rules.length, publishedRules.length, "every rule is published");
});

void t.test("a limit of 0 turns limiting off", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 0 });
  for (let i = 0; i < 200; i++) {
    const { status, headers } = await api.ask("/v1/thresholds");
    if (status !== 200 || headers.ratelimit) t.fail(`request ${i}: ${status}`);
  }
});

void t.test("a forwarded address from an untrusted client is ignored", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 1 });
  t.equal(await statusOf(api, ["192.0.2.1"]), 200);
  t.equal(await statusOf(api, ["192.0.2.2"]), 429);
});

type Requests = [entries: string[], status: number, why?: string][];
/** Requests in turn through trusted proxies, where each client has one request. */
const throughProxies: Record<string, Requests> = {
  "a forwarded address counts from a trusted proxy": [
    [["192.0.2.1"], 200],
    [["192.0.2.1"], 429],
    [["192.0.2.2"], 200],
    [["198.51.100.7", "192.0.2.2"], 429, "addresses to the left of the untrusted one are ignored"],
  ],
  "a port in a forwarded address does not make another client": [
    [["192.0.2.1:1001"], 200],
    [["192.0.2.1:1002"], 429, "another connection of the client"],
    [["192.0.2.1"], 429, "the same address without a port"],
    [["192.0.2.2:1001"], 200, "another client"],
    [["[2001:db8::1]:1001"], 200],
    [["[2001:db8::1]:1002"], 429],
    [["[2001:db8::2]"], 429, "an address of the same network"],
    [["192.0.2.3:1001", "10.1.2.3:4000"], 200, "two proxies"],
    [["192.0.2.3:1002", "10.1.2.3:4001"], 429],
    [["192.0.2.4:1001", "10.1.2.3:4001"], 200, "the inner proxy is trusted with its port, too"],
  ],
  "an invalid forwarded address counts as the proxy's own": [
    [["junk1"], 200],
    [["junk2"], 429],
    [["192.0.2.1:1234567"], 429],
    [["[junk]:80"], 429],
    [["_a"], 429],
    [[], 429],
  ],
  "IPv6 addresses count by /56, and IPv4 addresses individually": [
    [["2001:db8:0:100::1"], 200],
    [["2001:db8:0:1ff:ffff::1"], 429, "the same /56"],
    [["2001:DB8:0:0100:0:0:0:2"], 429, "the same network in another notation"],
    [["2001:db8:0:200::1"], 200, "the next /56"],
    [["::ffff:192.0.2.1"], 200],
    [["::ffff:192.0.2.2"], 200, "mapped IPv4 addresses are not one network"],
    [["192.0.2.1"], 429, "the same address as plain IPv4"],
  ],
};

for (const [name, requests] of Object.entries(throughProxies))
  void t.test(name, async (t) => {
    const api = await serveWithoutDatabase(t, { rateLimit: 1, trustProxy: ["loopback", "10.0.0.0/8"] });
    for (const [entries, status, why] of requests) t.equal(await statusOf(api, entries), status, why ?? entries.join());
    t.strictSame(api.logged, []);
  });

void t.test("an IPv6 site has sixteen times the requests of one customer", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 2, trustProxy: ["loopback"] });
  const ofSite = (site: string) => (customer: number) => statusOf(api, [`${site}:${(customer * 256).toString(16)}::1`]);
  const statuses = await inTurn(range(40).map((customer) => () => ofSite("2001:db8:0")(customer)));
  t.strictSame(statuses, [...Array<number>(32).fill(200), ...Array<number>(8).fill(429)]);
  // the allocation of one IPv4 address
  const sixToFour = await inTurn(range(40).map((customer) => () => ofSite("2002:c000:201")(customer)));
  t.equal(sixToFour.filter((status) => status === 200).length, 32);
  t.equal((await api.ask("/v1/status", { headers: { "x-forwarded-for": "2001:db8:0:ff00::1" } })).status, 429);
});

void t.test("answers that need no database are limited by bytes", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 1000, trustProxy: ["loopback"] });
  const ask = (path: string, client: string) => api.ask(path, { headers: { "x-forwarded-for": client } });
  let bytes = 0;
  for (let answer = await ask("/openapi.json", "192.0.2.1"); answer.status === 200;) {
    bytes += Number(answer.headers["content-length"]);
    answer = await ask("/openapi.json", "192.0.2.1");
    if (answer.status !== 200) t.match(answer, { status: 429, headers: { "retry-after": /^\d+$/ } });
  }
  t.ok(bytes > 32 * 2 ** 20 && bytes < 65 * 2 ** 20, `${bytes} bytes`);
  t.equal((await ask("/assets/x/uplot.js", "192.0.2.1")).status, 429);
  t.equal((await ask("/v1/thresholds", "192.0.2.1")).status, 200, "and counted separately");
  t.equal((await ask("/openapi.json", "192.0.2.2")).status, 200);
});

void t.test("readiness is looked up at most once a second", async (t) => {
  let asked = 0;
  const away = openPool("postgres://127.0.0.1:1/none", { applicationName: "test", log: makeLog("test", "error") });
  t.teardown(() => away.close());
  const counted: typeof away = { ...away, query: (statement) => ((asked += 1), away.query(statement)) };
  const api = await serve(t, { pool: counted, registry, rateLimit: 0 });
  const startMs = performance.now();
  for (let i = 0; i < 50; i++) t.equal((await api.ask("/readyz")).status, 503);
  t.ok(asked <= 1 + (performance.now() - startMs) / 1000, `${asked} times`);
});

const connect = (api: Api) =>
  new Promise<Socket>((resolve) => {
    const socket = createConnection(api.port, "127.0.0.1", () => resolve(socket));
    socket.on("error", () => {});
  });

const request = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";

void t.test("one address and all together have a limited number of connections", async (t) => {
  const connectionLimits = { perAddress: 2, total: 3, readWithinMs: 60_000, silentForMs: 30_000 };
  for (const [trustProxy, most] of [
    [[], 2],
    [["loopback"], 3],
  ] as const) {
    const api = await serveWithoutDatabase(t, { rateLimit: 0, trustProxy: [...trustProxy], connectionLimits });
    const sockets = await Promise.all(range(5).map(() => connect(api)));
    for (const socket of sockets) socket.write(request);
    await until(() => sockets.filter(({ destroyed, closed }) => destroyed || closed).length === 5 - most);
    const answered = sockets.filter(({ bytesRead }) => bytesRead > 0);
    t.equal(answered.length, most, trustProxy.length > 0 ? "of all" : "of an address");
    for (const socket of sockets) socket.destroy();
    await until(async () => (await statusOf(api).catch(() => 0)) === 200);
  }
});

void t.test("a client that does not read loses its connection, and others keep theirs", async (t) => {
  const connectionLimits = { perAddress: 3, total: 10, readWithinMs: 600, silentForMs: 30_000 };
  const api = await serveWithoutDatabase(t, { rateLimit: 0, connectionLimits });
  const [reader, stuck, idle] = [await connect(api), await connect(api), await connect(api)];
  let read = 0;
  reader.on("data", ({ length }: Buffer) => (read += length));
  reader.write(request.repeat(3));
  stuck.pause();
  // more than the buffers between us hold
  stuck.write(request.repeat(60));
  t.equal(await statusOf(api).catch(() => 0), 0, "as many connections are open as the limit allows");
  await until(async () => (await statusOf(api).catch(() => 0)) === 200);
  t.ok(read > 500_000, `${read} bytes`);
  const closed = once(stuck, "close");
  stuck.resume();
  await closed;
  for (const socket of [reader, idle]) {
    t.notOk(socket.destroyed || socket.closed);
    socket.destroy();
  }
});

void t.test("an unread body does not stay in the kernel, and counts until it is gone", async (t) => {
  const connectionLimits = { perAddress: 1, total: 10, readWithinMs: 60_000, silentForMs: 2_000 };
  const api = await serveWithoutDatabase(t, { rateLimit: 0, connectionLimits });
  for (const asked of [request, request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")]) {
    const stuck = await connect(api);
    stuck.pause();
    stuck.write(asked);
    if (canSeeKernel) await until(() => unreadBytes(api.port) > 100_000);
    t.equal(await statusOf(api).catch(() => 0), 0, "it is the one connection of its address");
    await until(async () => (await statusOf(api).catch(() => 0)) === 200);
    // the end of a connection counts as a byte
    if (canSeeKernel) t.ok(unreadBytes(api.port) < 10);
    const closed = once(stuck, "close");
    stuck.resume();
    await closed;
    t.ok(stuck.bytesRead < 300_000, `it was reset after ${stuck.bytesRead} bytes`);
  }
});

void t.test("a silent client that reads gets its whole body, and no reset", async (t) => {
  const connectionLimits = { perAddress: 1, total: 10, readWithinMs: 60_000, silentForMs: 200 };
  const api = await serveWithoutDatabase(t, { rateLimit: 0, connectionLimits });
  const socket = await connect(api);
  const errors: Error[] = [];
  socket.on("error", (error) => errors.push(error)).resume();
  socket.write(request);
  await once(socket, "close");
  t.strictSame(errors, []);
  t.ok(socket.bytesRead > 300_000, `${socket.bytesRead} bytes`);
});

const canSeeKernel = existsSync("/proc/net/tcp");

/** The bytes that the port's connections, open or not, have sent and their clients have not read. */
function unreadBytes(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const sockets = readFileSync("/proc/net/tcp", "latin1").split("\n").slice(1, -1);
  const fields = sockets.map((line) => line.trim().split(/\s+/));
  const ofPort = fields.filter(([, address]) => address!.endsWith(local));
  return ofPort.reduce((sum, [, , , , bytes]) => sum + parseInt(bytes!, 16), 0);
}

void t.test("headers beyond the two thousandth are seen", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 0 });
  const many = "a:b\r\n".repeat(2100);
  for (const [last, status] of [
    ["Host: other\r\n", 400],
    ["Transfer-Encoding: xchunked\r\n", 400],
    ["Expect: foo\r\n", 417],
    ["Accept: text/html\r\n", 200],
  ] as const) {
    const socket = await connect(api);
    socket.write(`GET /v1/thresholds HTTP/1.1\r\nHost: x\r\n${many}${last}\r\n`);
    const [answer] = (await once(socket, "data")) as [Buffer];
    t.match(answer.toString("latin1"), new RegExp(`^HTTP/1.1 ${status} `), last);
    socket.destroy();
  }
});

void t.test("a resource has one address, and a Host is a host", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 0 });
  for (const path of ["/V1/thresholds", "/v1/thresholds/", "/v1/Thresholds", "/healthz/", "/Docs", "/v1//thresholds"])
    t.equal((await api.ask(path)).status, 404, path);
  for (const [host, status] of [
    ...["a b", "a/b", "a?b", "user@a", "a#b", "[::1", "a:b", "a:123456"].map((host) => [host, 400] as const),
    ...["x", "x.example:80", "[::1]:8080", "127.0.0.1", "x.", ""].map((host) => [host, 200] as const),
  ]) {
    const socket = await connect(api);
    socket.write(`GET /v1/thresholds HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const [answer] = (await once(socket, "data")) as [Buffer];
    t.match(answer.toString("latin1"), new RegExp(`^HTTP/1.1 ${status} `), host);
    socket.destroy();
  }
});

const range = (count: number) => Array.from({ length: count }, (_, at) => at);

async function inTurn<T>(tasks: (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  for (const task of tasks) results.push(await task());
  return results;
}

void t.test("a malformed forwarded address causes no error", async (t) => {
  const api = await serveWithoutDatabase(t, { rateLimit: 1000, trustProxy: ["loopback"] });
  const almost = ["192.0.2.1:5678", "[2001:db8::1]:80", "fe80::1%eth0", "::ffff:192.0.2.1", "999.1.1.1"];
  for (const address of [...almost, "unknown", "", ", ,", "x".repeat(5000)])
    for (const header of ["x-forwarded-for", "forwarded"])
      t.equal(await statusOf(api, [address], header), 200, `${header}: ${address.slice(0, 30)}`);
  t.strictSame(api.logged, []);
});

void t.test("on a dual-stack socket, each IPv4 address counts individually, and IPv6 separately", async (t) => {
  // IPv4 clients appear as ::ffff:127.0.0.1
  const host = (await isOurs("::1")) ? "::" : "0.0.0.0";
  const api = await serveWithoutDatabase(t, { rateLimit: 1, host });
  for (const address of ["127.0.0.1", "127.0.0.2", "::1"]) {
    if (!(await isOurs(address))) {
      t.pass(address, { skip: `this machine has no ${address}` });
      continue;
    }
    const from = { host: address, localAddress: address };
    t.equal((await api.ask("/v1/thresholds", from)).status, 200, `${address} is another client`);
    t.equal((await api.ask("/v1/thresholds", from)).status, 429, address);
  }
});

/** Not every machine has IPv6, and not every system has several IPv4 loopback addresses. */
async function isOurs(address: string): Promise<boolean> {
  const server = createServer();
  const listening = once(server, "listening");
  server.listen(0, address);
  try {
    await listening;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT") return false;
    throw error;
  }
  server.close();
  await once(server, "close");
  return true;
}

// The queue of statements.

/** A pool that records the statements that begin, and ends each only on demand. */
function waitingPool() {
  const begun: string[] = [];
  const endings: ((error?: Error) => void)[] = [];
  return {
    begun,
    /** Ends the statement that began as the `index`-th, and lets the following one begin. */
    async end(index: number, error?: Error) {
      endings[index]!(error);
      await settled();
    },
    file<Row>(name: string) {
      begun.push(name);
      return new Promise<Row[]>((resolve, reject) => {
        endings.push((error) => (error ? reject(error) : resolve([name] as Row[])));
      });
    },
  };
}

const settled = () => new Promise(setImmediate);

void t.test("expensive statements run one at a time in order, and others do not wait", async (t) => {
  const pool = waitingPool();
  const turns = queuedPool(pool, new Set(["year", "year_csv"]));
  const year = turns.file("year");
  const table = turns.file("year_csv");
  const another = turns.file("year");
  await settled();
  t.strictSame(pool.begun, ["year"]);
  const board = turns.file("board");
  t.strictSame(pool.begun, ["year", "board"]);
  await pool.end(1);
  t.strictSame(await board, ["board"]);

  const failing = t.rejects(year, { message: "too slow" });
  await pool.end(0, new Error("too slow"));
  await failing;
  t.strictSame(pool.begun.slice(2), ["year_csv"], "a failed statement is not repeated");
  await pool.end(2);
  t.strictSame(await table, ["year_csv"]);
  t.strictSame(pool.begun.slice(3), ["year"]);
  await pool.end(3);
  t.strictSame(await another, ["year"]);
});

void t.test("a statement that waits too long in the queue is given up", async (t) => {
  const pool = waitingPool();
  const turns = queuedPool(pool, new Set(["year"]), 20);
  const hanging = turns.file("year");
  await t.rejects(turns.file("year"), { constructor: QueueTimeout, message: "year was still queued after 20 ms" });
  await pool.end(0);
  t.strictSame(await hanging, ["year"], "a statement that has begun may take longer");
  const next = turns.file("year");
  await settled();
  t.equal(pool.begun.length, 2, "a statement that was given up never runs");
  await pool.end(1);
  t.strictSame(await next, ["year"]);
});
