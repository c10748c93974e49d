/** One measurement, of servers that answer well and badly; hostile-answers.test.ts has the others. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import net, { type AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { causeOf, unlessOurNetwork } from "../../../../probe/measure/causes.js";
import { makeChainHeads } from "../../../../probe/measure/chain.js";
import { isUnmeasured, type Measurement, type MeasurementOutcome } from "../../../../probe/measure/measurement.js";
import { makePauses } from "../../../../probe/measure/pauses.js";
import { makeAgeVerdict } from "../../../../probe/measure/rest/age-verdict.js";
import { compileAnswerCheck } from "../../../../probe/measure/rest/checks.js";
import { makeRest } from "../../../../probe/measure/rest/rest.js";
import type { Connectivity } from "../../../../probe/network/own-network.js";
import { makeResolver } from "../../../../probe/network/resolver.js";
import { hostsOf } from "../../../../shared/registry/components.js";
import type { Newest, Proof, RestEndpoint } from "../../../../shared/registry/registry.js";
import { listeningLog } from "../../../support/listening-log.js";
import { endpointAt, measured, measuring, openRest, serve, userAgent } from "../../../support/measured-endpoint.js";
import { serveTcp } from "../../../support/tcp-server.js";

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
  const sinceMs = performance.now() - 1000;
  t.equal(await resolver.wayOut("other.test", sinceMs), "unknown");
  await measured(t, endpointAt(url), { resolver });
  t.equal(await resolver.wayOut("other.test", sinceMs), "open");
});

void t.test("POST sends its body as JSON, and the chain's head is read", async (t) => {
  let body = "";
  const url = await serve(t, (request, response) => {
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => response.end(`{"result":"0x10d4f"}`));
  });
  const endpoint = endpointAt(url, {
    ...{ method: "POST", body: { method: "eth_blockNumber" } },
    ...{ proof: "$.result", head: { path: "$.result", encoding: "hex" } },
  });
  const sample = await measured(t, endpoint);
  t.equal(body, `{"method":"eth_blockNumber"}`);
  t.match(sample, { good: true, head: 68943 });
});

const price = `{"price":1}`;

const answers: [string, number, string, string | Buffer, Partial<Measurement>][] = [
  ["firewall", 403, "", "no", { fault: "blocked" }],
  ["geo-block", 451, "", "no", { fault: "blocked" }],
  ["ban", 418, "", "no", { fault: "limited" }],
  ["used-up free share", 402, "", "no", { fault: "limited" }],
  ["server error", 500, "", "{}", { fault: "http" }],
  ["page of HTML", 200, "", "<html>", { fault: "body" }],
  ["compressed answer that was not requested", 200, "gzip", gzipSync(price), { good: true }],
  ["unknown encoding", 200, "zip", price, { fault: "body" }],
];

for (const [name, status, encoding, body, expected] of answers)
  void t.test(`${name}: ${expected.fault ?? "good"}`, async (t) => {
    const headers = { "content-encoding": encoding };
    const url = await serve(t, (_request, response) => response.writeHead(status, headers).end(body));
    const sample = await measured(t, endpointAt(url));
    // the answer was whole
    t.match(sample, { good: !expected.fault, httpStatus: status, latencyUs: Number, ...expected });
  });

void t.test("an address where nothing listens: connect", async (t) => {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  const sample = await measured(t, endpointAt(`http://127.0.0.1:${port}/`));
  t.match(sample, { good: false, fault: "connect", latencyUs: null });
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
  const startMs = performance.now();
  while (performance.now() < startMs + 200);
  t.match(await opening, { good: true });
  t.same(await measure(), { unmeasured: "stale" });
  t.match(await measure(), { good: true });
  t.equal(connections, 2);
});

void t.test("a kept connection that the server ends later than a round trip is its fault", async (t) => {
  const port = await serveTcp(t, (socket) => {
    let requests = 0;
    socket.on("data", () => {
      requests += 1;
      if (requests === 1) socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"price":1}`);
      else setTimeout(() => socket.resetAndDestroy(), 500);
    });
  });
  const measure = measuring(t, endpointAt(`http://127.0.0.1:${port}/`));
  t.match(await measure(), { good: true });
  t.match(await measure(), { good: false, fault: "closed", fresh: false });
});

const judge = (endpoint: Parameters<typeof compileAnswerCheck>[0], answer: unknown) =>
  compileAnswerCheck(endpoint)(Buffer.from(JSON.stringify(answer)), undefined);

void t.test("a chain head is read exactly or is null", (t) => {
  for (const [encoding, h, head] of [
    ["hex", "0xff", 255],
    ["hex", "ff", null],
    // beyond safe integers
    ["hex", "0xffffffffffffffff", null],
    ["integer", 7, 7],
    ["integer", "7", 7],
    ...[7.5, -7, ""].map((h) => ["integer", h, null] as const),
  ] as const)
    t.equal(judge({ proof: "$", head: { path: "$.h", encoding } }, { h }).head, head, `${encoding} ${h}`);
  t.end();
});

const wanted = { path: "$.a", equals: true };
const both: Proof = [{ path: "$.time" }, { unless: "$.error" }];
const unless = { unless: "$.error" };
const errors = ["", false, 0, [], "apiLimitExceeded"].map((error) => ({ error }));
const list = { path: "$", is: "list" } as const;

const proofs: [what: string, proof: Proof, good: unknown[], bad: unknown[]][] = [
  ["a path alone requires a value that is not null", "$.a", [{ a: false }, { a: 0 }], [{ a: null }, {}]],
  ["$ alone requires JSON", "$", [null], []],
  ["a condition requires a value", wanted, [{ a: true }], [{ a: "true" }, { a: false }]],
  ["a condition accepts one of several values", { path: "$.a", equals: [true, "true"] }, [{ a: "true" }], []],
  ["a condition may require false", { path: "$.a", equals: false }, [{ a: false }], [{}]],
  ["a condition requires a number", { path: "$.a", equals: 1 }, [], [{ a: "1" }, { a: [1] }]],
  ["a condition requires a list, empty or not", list, [[], [1]], [{}, { 0: 1, length: 1 }, "[]", null, 0]],
  ["a condition requires a field to be missing", unless, [{}, { error: null }], errors],
  ["all conditions must hold", both, [{ time: 1 }], [{ time: 1, error: "no" }, {}]],
];

for (const [what, proof, good, bad] of proofs)
  void t.test(what, (t) => {
    for (const answer of good) t.ok(judge({ proof }, answer).good, JSON.stringify(answer));
    for (const answer of bad) t.notOk(judge({ proof }, answer).good, JSON.stringify(answer));
    t.end();
  });

void t.test("the newest item's time or id is read", (t) => {
  const newestOf = (newest: Newest, answer: unknown) => judge({ proof: "$", newest }, answer).newest;
  const at = (unit: Newest["unit"], value: unknown) => newestOf({ path: "$.t", unit }, { t: value });
  t.strictSame(at("ms", 1700000000123), { atMs: 1700000000123 });
  t.equal(at("ms", "soon"), null);
  t.strictSame(at("id", "d0692c0c"), { id: "d0692c0c" });
  t.strictSame(at("id", 77), { id: "77" });
  t.equal(at("id", null), "none");
  t.equal(at("id", { id: 7 }), null);
  t.equal(at("ms", null), "none");

  const list: Newest = { list: "$.all", path: "$.t", unit: "s" };
  const all = [{ t: "1700000003" }, { t: null }, { t: "1700000009" }, 7, { t: "1700000005" }];
  t.strictSame(newestOf(list, { all }), { atMs: 1_700_000_009_000 }, "in any order");
  for (const empty of [{ all: [] }, { all: null }, {}])
    t.equal(newestOf(list, empty), "none", "an empty list has no newest item");
  for (const times of [[0], ["1700000003000"], [null, "never"], [Date.now() / 1000 + 60], [-1, 1e300]])
    t.equal(newestOf(list, { all: times.map((time) => ({ t: time })) }), null, `${JSON.stringify(times)} say nothing`);
  t.equal(newestOf(list, { all: {} }), null);
  t.end();
});

void t.test("only a good answer's own time is read", (t) => {
  const endpoint = { proof: unless, dataTime: { path: "$.at", unit: "s", staleAfterMs: 60_000 } } as const;
  t.equal(judge(endpoint, { at: 1700000000 }).dataMs, 1700000000000);
  t.equal(judge(endpoint, { at: "never" }).dataMs, null);
  t.equal(judge(endpoint, { at: 1700000000, error: "no" }).dataMs, null);
  t.end();
});

// Endpoints that are read through nodes of third parties, of which another answers when one fails.

type Play = "good" | "hangs" | "silent" | "resets" | number | `${number} ${string}`;

/** Nodes with scripted answers, and the order in which they were asked. */
async function nodesAt(t: Test, plays: Play[]) {
  const asked: number[] = [];
  const urls = await Promise.all(
    plays.map((_, place) =>
      serve(t, (request, response) => {
        asked.push(place);
        const play = plays[place]!;
        if (play === "hangs") return;
        if (play === "silent") return void response.writeHead(200).flushHeaders();
        if (play === "resets") return void request.socket.resetAndDestroy();
        const [status, ...words] = play === "good" ? [200, `{"price":1}`] : String(play).split(" ");
        response.writeHead(Number(status)).end(words.join(" ") || `{"price":null}`);
      }),
    ),
  );
  const [url, ...alternatives] = urls;
  return {
    asked,
    url: url!,
    endpoint: (more: Partial<RestEndpoint> = {}) => endpointAt(url!, { alternatives, ...more }),
  };
}

const provider: MeasurementOutcome = { unmeasured: "provider" };
const words: Partial<RestEndpoint> = { limited: { path: "$.error.code", equals: -32005 } };

for (const [play, more] of [
  [500, {}],
  [403, {}],
  [429, {}],
  [402, {}],
  [`200 {"error":{"code":-32005}}`, words],
  [`200 {"error":{"code":-32000}}`, words],
  ["200 <html>", {}],
  ["resets", {}],
  ["hangs", {}],
  ["silent", {}],
] as const)
  void t.test(`the second address answers where the first plays ${play}`, async (t) => {
    const { asked, endpoint } = await nodesAt(t, [play, "good"]);
    const measure = openRest(t)(endpoint({ timeoutMs: 1000, ...more }));
    const startMs = performance.now();
    const outcome = await measure(true);
    t.match(outcome, { good: true, fault: null, httpStatus: 200 });
    t.same(asked, [0, 1]);
    t.ok(performance.now() - startMs < 1500, "within the time of the slot");
  });

void t.test("an address where nothing listens is followed by the next", async (t) => {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  const good = await serve(t, (_request, response) => response.end(`{"price":1}`));
  const rest = openRest(t);
  t.match(await rest(endpointAt(`http://127.0.0.1:${port}/`, { alternatives: [good] }))(), { good: true });
});

void t.test("addresses are asked in their order, and none after one that answers well", async (t) => {
  const plays: Play[] = ["good", "good", "good"];
  const { asked, endpoint } = await nodesAt(t, plays);
  const measure = openRest(t)(endpoint());
  t.match(await measure(), { good: true });
  plays[0] = 500;
  t.match(await measure(), { good: true });
  plays[1] = "200 {}";
  t.match(await measure(), { good: true });
  plays[0] = "good";
  t.match(await measure(), { good: true });
  t.same(asked, [0, 0, 1, 0, 1, 2, 0]);
});

void t.test("only the first address has a latency, also where it is paused", async (t) => {
  const plays: Play[] = ["good", "good"];
  const { endpoint } = await nodesAt(t, plays);
  const measure = openRest(t)(endpoint());
  const none = { latencyUs: null, dnsUs: null, connectUs: null, tlsUs: null, firstByteUs: null };
  t.match(await measure(true), { good: true, latencyUs: Number, firstByteUs: Number, connectUs: Number });
  plays[0] = 429;
  for (const when of ["after the first fails", "while the first is paused"])
    t.match(await measure(true), { ...none, good: true, httpStatus: 200 }, when);
});

void t.test("if all fail, that says nothing about the venue", async (t) => {
  const { asked, endpoint } = await nodesAt(t, [500, "200 {}", "hangs"]);
  const measure = openRest(t)(endpoint({ timeoutMs: 600 }));
  const startMs = performance.now();
  t.same(await measure(), provider);
  t.same(asked, [0, 1, 2]);
  t.ok(performance.now() - startMs < 1000);
});

void t.test("nodes that hang share the time of the slot", async (t) => {
  const { asked, endpoint } = await nodesAt(t, ["hangs", "silent", "good"]);
  t.match(await openRest(t)(endpoint({ timeoutMs: 900 }))(), { good: true });
  t.same(asked, [0, 1, 2]);
});

void t.test("a paused address is skipped, and asked again after its pause", async (t) => {
  const plays: Play[] = [429, "good"];
  const { asked, endpoint } = await nodesAt(t, plays);
  let nowMs = 0;
  const measure = openRest(t, { pauses: makePauses(() => nowMs) })(endpoint());
  for (let slot = 0; slot < 3; slot += 1) t.match(await measure(), { good: true });
  t.same(asked, [0, 1, 1, 1]);
  plays[1] = 403;
  for (let slot = 0; slot < 4; slot += 1)
    t.same(await measure(), provider, "the second fails, and is then paused, too");
  t.same(asked.slice(4), [1, 1, 1]);
  t.same(await measure(), provider);
  nowMs = 30_000;
  plays.fill("good");
  t.match(await measure(), { good: true });
  t.same(asked.slice(7), [0]);
});

void t.test("a fault of the venue counts if all nodes report it, not if one node does", async (t) => {
  const halted: Partial<RestEndpoint> = { halted: { path: "$.paused", equals: true } };
  const says = `200 {"paused":true}`;
  for (const [plays, expected] of [
    [[says, says], { good: false, fault: "halted", httpStatus: 200 }],
    [[says, "good"], { good: true }],
    [[says, 500], provider],
    [[500, says], provider],
  ] as [Play[], MeasurementOutcome][]) {
    const { endpoint } = await nodesAt(t, plays);
    t.match(await openRest(t)(endpoint(halted))(), expected, plays.join(", "));
  }
});

void t.test("data that one node shows too old may be newer at another", async (t) => {
  const atMs = [Date.now() - 3_600_000, Date.now()];
  const urls = await Promise.all(
    [0, 1].map((place) =>
      serve(t, (_request, response) => response.end(JSON.stringify({ price: 1, at: atMs[place] }))),
    ),
  );
  const dataTime = { path: "$.at", unit: "ms", staleAfterMs: 60_000 } as const;
  const endpoint = endpointAt(urls[0]!, { alternatives: urls.slice(1), dataTime });
  const rest = makeRest({ userAgent: "test", resolver: makeResolver([]) });
  t.teardown(() => rest.close());
  const measure = rest.endpoint(endpoint, verdictOn(endpoint, null));
  const { signal } = new AbortController();
  const { eventAgeMs } = (await measure(signal)) as Measurement;
  t.ok(eventAgeMs !== null && eventAgeMs < 60_000, "of the newer data");
  atMs[1] = atMs[0]!;
  t.match(await measure(signal), { good: false, fault: "stale" }, "both have only old data");
});

void t.test("a head is compared as that of the host that answered", async (t) => {
  const head = { path: "$.head", encoding: "integer" } as const;
  let isFirstUp = true;
  const first = await serve(t, (_request, response) =>
    response.writeHead(isFirstUp ? 200 : 500).end(JSON.stringify({ price: 1, head: 100 })),
  );
  const second = await serve(t, (_request, response) => response.end(JSON.stringify({ price: 1, head: 200 })));
  const providers: string[] = [];
  const heads = makeChainHeads(new Map([["test", { blockMs: 1000, hosts: new Map(), providers: [] }]]));
  const watching = {
    ...heads,
    staleMs(named: Parameters<typeof heads.staleMs>[0]) {
      providers.push(named.provider);
      return heads.staleMs(named);
    },
  };
  const endpoint = endpointAt(first, { alternatives: [second], head });
  const rest = makeRest({ userAgent: "test", resolver: makeResolver([]) });
  t.teardown(() => rest.close());
  const measure = rest.endpoint(endpoint, verdictOn(endpoint, watching));
  t.match(await measure(new AbortController().signal), { good: true, head: 100 });
  isFirstUp = false;
  t.match(await measure(new AbortController().signal), { good: true, head: 200 });
  t.same(providers, [new URL(first).host, new URL(second).host]);
});

void t.test("if this machine has no way out, the reason is its network, not the provider", async (t) => {
  const { endpoint } = await nodesAt(t, ["resets", "resets"]);
  const resolver = { ...makeResolver([]), wayOut: () => Promise.resolve("shut" as const) };
  const outcome = await openRest(t, { resolver })(endpoint())(true);
  t.ok(isUnmeasured(outcome));
  t.same(outcome, { unmeasured: "network" });
});

void t.test("a stop ends the measurement at once, without trying another address", async (t) => {
  const { asked, endpoint } = await nodesAt(t, ["hangs", "good"]);
  const rest = makeRest({ userAgent: "test", resolver: makeResolver([]) });
  t.teardown(() => rest.close());
  const stopping = new AbortController();
  const outcome = rest.endpoint(endpoint({ timeoutMs: 30_000 }))(stopping.signal);
  while (asked.length === 0) await new Promise(setImmediate);
  stopping.abort();
  t.match(await outcome, { good: false, fault: "timeout" });
  t.same(asked, [0]);
});

void t.test("alternative hosts are known as hosts of the venue", (t) => {
  const endpoint = endpointAt("https://one.test/a", {
    alternatives: ["https://two.test/b", "https://three.test:444/"],
  });
  t.same(hostsOf({ rest: [endpoint], socket: null } as unknown as Parameters<typeof hostsOf>[0]), [
    "one.test",
    "two.test",
    "three.test",
  ]);
  t.end();
});

function verdictOn(endpoint: RestEndpoint, heads: ReturnType<typeof makeChainHeads> | null) {
  return makeAgeVerdict({
    venue: { id: "a", category: "oracle", chain: "test" },
    endpoint,
    clock: { read: () => ({ errorMs: 0, withinMs: 0 }) },
    heads: heads ?? makeChainHeads(new Map()),
    counterpart: null,
    log: listeningLog("error").log,
  });
}

// Whether a failed exchange is the venue's fault, or that of this machine's network.

const errorOf = (code: string) => Object.assign(new Error(code), { code });

void t.test("a host without a route is the venue's fault while others are reached", async (t) => {
  const gone = errorOf("EHOSTUNREACH");
  const away = errorOf("ENETUNREACH");
  // An address of each family, and no IPv6 on this machine.
  const both = new AggregateError([away, gone]);
  const network = { unmeasured: "network" };
  const judged = (error: Error, way: Connectivity) =>
    unlessOurNetwork(
      causeOf(error, "connect"),
      { host: "a", sinceMs: 0, error },
      { asked() {}, answered() {}, wayOut: () => Promise.resolve(way), forget() {} },
    );
  for (const error of [gone, away, both]) {
    t.same(await judged(error, "open"), { fault: "connect" });
    t.same(await judged(error, "unknown"), network);
    t.same(await judged(error, "shut"), network);
  }
  const refused = errorOf("ECONNREFUSED");
  t.same(await judged(refused, "unknown"), { fault: "connect" });
  t.same(await judged(refused, "shut"), network);
  for (const code of ["EMFILE", "EADDRNOTAVAIL"])
    t.same(await judged(errorOf(code), "open"), { unmeasured: "sockets" });
});
