/** Endpoints that are read through nodes of third parties, of which another answers when one fails. */
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { makePauses } from "../../../../probe/measure/pauses.js";
import { makeAnswerVerdict } from "../../../../probe/measure/rest/answer-verdict.js";
import { makeChainHeads } from "../../../../probe/measure/chain.js";
import { isUnmeasured, type Measurement, type MeasurementOutcome } from "../../../../probe/measure/measurement.js";
import { makeResolver } from "../../../../probe/network/resolver.js";
import { makeRest } from "../../../../probe/measure/rest/rest.js";
import { hostsOf } from "../../../../shared/registry/components.js";
import type { RestEndpoint } from "../../../../shared/registry/registry.js";
import { endpointAt, openRest, serve } from "../../../support/measured-endpoint.js";
import { listeningLog } from "../../../support/listening-log.js";

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
  return makeAnswerVerdict({
    venue: { id: "a", category: "oracle", chain: "test" },
    endpoint,
    clock: { read: () => ({ errorMs: 0, withinMs: 0 }) },
    heads: heads ?? makeChainHeads(new Map()),
    counterpart: null,
    log: listeningLog("error").log,
  });
}
