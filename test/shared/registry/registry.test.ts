import { readFileSync } from "node:fs";
import t from "tap";
import { componentsOf } from "../../../shared/registry/components.js";
import { categories, type RestEndpoint, type Venue } from "../../../shared/registry/registry.js";
import { packagedFile } from "../../../shared/config/package.js";
import { catalogueEntry } from "../../../shared/registry/catalogue.js";
import { chainVenues, watchedVenues } from "../../../shared/registry/chain-venues.js";
import { loadRegistry, parseRegistry } from "../../../shared/registry/load-registry.js";

const fifteen = await loadRegistry(packagedFile("registry/exchanges.json"));
const all = await loadRegistry(packagedFile("registry/all.json"));

/** REST requests per minute and region, and the components, of each venue of the board. */
const board: [id: string, perMinute: number, components: string][] = [
  ["binance", 46, "rest:ping rest:time rest:ticker rest:book rest:trades ws:conn ws:ticker ws:trades ws:book"],
  ["coinbase", 34, "rest:time rest:ticker rest:book rest:trades ws:conn ws:heartbeat ws:ticker ws:trades ws:book"],
  ["kraken", 14, "rest:time rest:status rest:ticker rest:book rest:trades ws:conn ws:ticker ws:trades ws:book"],
  ["okx", 34, "rest:time rest:ticker rest:book rest:trades ws:conn ws:ticker ws:trades ws:book"],
  ["bybit", 34, "rest:time rest:ticker rest:book rest:trades ws:conn ws:ticker ws:trades ws:book"],
  ["kucoin", 40, "rest:time rest:status rest:ticker rest:book rest:trades ws:conn ws:ticker ws:trades ws:book"],
  ["gate", 34, "rest:time rest:ticker rest:book rest:trades ws:conn ws:ticker ws:trades ws:book"],
  ["bitget", 34, "rest:time rest:ticker rest:book rest:trades ws:conn ws:ticker ws:trades ws:book"],
  ["bitfinex", 28, "rest:status rest:ticker rest:book rest:trades ws:conn ws:ticker ws:trades ws:book"],
  ["bitstamp", 21, "rest:ticker rest:fx rest:trades rest:book ws:conn ws:trades ws:book ws:diff"],
  ["gemini", 28, "rest:ticker rest:stats rest:book rest:trades ws:conn ws:ticker ws:trades ws:book"],
  ["deribit", 40, "rest:time rest:status rest:ticker rest:book rest:trades ws:conn ws:ticker ws:trades ws:book"],
  [
    "binance-futures",
    46,
    "rest:ping rest:time rest:ticker rest:book rest:trades ws:conn ws:ticker ws:mark ws:trades ws:book",
  ],
  ["kraken-futures", 25, "rest:ticker rest:status rest:book rest:trades ws:conn ws:ticker ws:trades ws:book"],
  [
    "kucoin-futures",
    40,
    "rest:time rest:status rest:ticker rest:book rest:trades ws:conn ws:book ws:mark ws:ticker ws:trades",
  ],
];

/** The same for venues of the other categories. */
const others: [id: string, category: string, perMinute: number][] = [
  ["publicnode", "rpc", 18],
  ["drpc", "rpc", 7],
  ["solana", "rpc", 28],
  ["coingecko", "market-data", 1.5],
  ["coinpaprika", "market-data", 0.2],
  ["defillama", "market-data", 2.2],
  ["chainlink", "oracle", 7],
  ["redstone", "oracle", 6],
  ["dia", "oracle", 3],
  ["usdc", "stablecoin", 10.1],
  ["usdt", "stablecoin", 6.2],
  ["dai", "stablecoin", 7],
  ["across", "bridge", 6],
  ["wormhole", "bridge", 8],
  ["cctp", "bridge", 4],
  ["moonpay", "ramp", 1],
  ["transak", "ramp", 0.7],
  ["rampnetwork", "ramp", 0.7],
];

/** Venues whose figures are written down here, in the order of registry/all.json. */
const written = new Set([...board, ...others].map(([id]) => id));
const wide = { ...all, venues: all.venues.filter(({ id }) => written.has(id)) };

const instrument = { category: "exchange", symbol: String, quote: /^USDT?$/, chain: null };

void t.test("spec: the board is the 15 venues, and no other", (t) => {
  t.strictSame(idsOf(fifteen.venues), idsOf(board.map(([id]) => ({ id }))));
  for (const venue of fifteen.venues) t.match(venue, instrument);
  t.equal(fifteen.probeIntervalMs, 5000);
  t.equal(idsOf(fifteen.regions), "eu-central ap-southeast us-east", "the primary region comes first");
  t.end();
});

void t.test("registry/all.json begins with the fifteen, and has all seven categories", (t) => {
  t.strictSame(all.regions, fifteen.regions);
  t.strictSame(all.venues.slice(0, 15), fifteen.venues);
  for (const [id, category] of others) t.equal(venueOf(id).category, category);
  const measured = new Set(all.venues.map(({ category }) => category));
  t.strictSame([...measured], [...categories], "each of the seven categories has a venue");
  t.end();
});

void t.test("a chain that two providers read is a venue, behind those of the registry", (t) => {
  t.same(chainVenues(fifteen), []);
  t.same(watchedVenues(wide).slice(0, -1), wide.venues);
  const [ethereum, ...more] = chainVenues(wide);
  t.same(more, [], "Solana has one provider");
  const fewChains = Object.fromEntries(Object.entries(all.chains!).filter(([name]) => name !== "base"));
  t.match(ethereum, { id: "ethereum-chain", name: "Ethereum chain", category: "rpc", symbol: null, rest: [] });
  // the slower of the two providers
  t.same(ethereum!.heads, { providers: ["publicnode", "drpc"], cadenceMs: 10_000, standsAfterMs: 60_000 });
  t.equal(idsOf(componentsOf(ethereum!)), "rest:head");

  const whole = { ...wide, chains: fewChains, venues: wide.venues.filter(({ chain }) => chain !== null) };
  const with_ = (chain: string, ...more: Partial<Venue>[]) => {
    const chains = { ...fewChains, [chain]: { blockMs: 600_000, source: "test" } };
    const venues = more.map((own, at) => {
      const entry = structuredClone(whole.venues.find(({ id }) => id === "publicnode")!);
      for (const endpoint of entry.rest) endpoint.url = `https://node${at}.test/`;
      return { ...entry, id: `node${at}`, chain, ...own };
    });
    return { ...whole, chains, venues: [...whole.venues, ...venues] };
  };
  const idsWith = (...given: Parameters<typeof with_>) => chainVenues(with_(...given)).map(({ id }) => id);
  t.same(idsWith("Base Mainnet", {}, {}), ["ethereum-chain", "base-mainnet-chain"]);
  t.same(idsWith("以太", {}, {}, {}), ["ethereum-chain", "chain"]);
  t.equal(idsWith("x".repeat(99), {}, {})[1]!.length, 40);
  t.same(idsWith("base", {}), ["ethereum-chain"], "one provider");
  t.same(idsWith("base", {}, { category: "oracle" }), ["ethereum-chain"], "an oracle is no provider");
  const { rest } = with_("base", {}).venues.at(-1)!;
  t.same(idsWith("base", {}, { rest }), ["ethereum-chain"], "two venues at one host are one provider");
  const withoutHeads = rest.map((endpoint) =>
    Object.fromEntries(Object.entries(endpoint).filter(([key]) => key !== "head")),
  );
  t.same(
    idsWith("base", {}, { rest: withoutHeads as unknown as RestEndpoint[] }),
    ["ethereum-chain"],
    "without a head",
  );

  const parsed = (...given: Parameters<typeof with_>) => parseRegistry(with_(...given), "mine");
  t.doesNotThrow(() => parsed("base", {}, {}));
  t.throws(() => parsed("base", {}, { id: "base-chain" }), /chains\.base: expected another name; .* venue base-chain$/);
  t.throws(() => parsed("base", {}, { formerIds: ["base-chain"] }), /chains\.base: .* the id of venue node1/);
  const both = with_("Base", {}, {});
  const again = { ...both, chains: { ...both.chains, base: both.chains["Base"]! } };
  again.venues.push(...["a", "b"].map((id) => ({ ...both.venues.at(-1)!, id, chain: "base" })));
  again.venues.at(-1)!.rest = rest;
  t.throws(() => parseRegistry(again, "mine"), /chains\.base: .* the id of chain Base/);
  t.end();
});

void t.test("each venue has its components, and stays within its request budget", (t) => {
  for (const [id, perMinute, components] of board) {
    t.equal(idsOf(componentsOf(venueOf(id))), components, id);
    t.equal(Math.round(requestsPerMinute(venueOf(id))), perMinute, id);
  }
  for (const [id, , perMinute] of others) t.ok(Math.abs(requestsPerMinute(venueOf(id)) - perMinute) < 0.06, id);
  t.end();
});

void t.test("each venue has sources and the day of its last check", (t) => {
  const today = new Date().toISOString().slice(0, 10);
  for (const { id, sources, checkedAt, until } of all.venues) {
    t.ok(sources && sources.length > 0, id);
    t.equal(new Set(sources).size, sources?.length, `${id}: each source once`);
    t.ok(checkedAt && checkedAt >= "2026-11-28" && checkedAt <= today, `${id}: ${checkedAt}`);
    t.ok(until === undefined || until.date > checkedAt!, `${id} had not ended when it was checked`);
  }
  t.end();
});

void t.test("each limit is about an origin that its venue asks", (t) => {
  for (const venue of all.venues)
    for (const { origin, endpoints } of venue.limits ?? []) {
      const asked = venue.rest.filter(({ name }) => !endpoints || endpoints.includes(name)).flatMap(originsOf);
      t.ok(asked.includes(origin), `${venue.id}: ${origin}`);
    }
  t.end();
});

void t.test("three probes on one address use at most half of each limit, and one keeps its cadences", async (t) => {
  const catalogue = (id: string) => catalogueEntry(id) as Venue;
  for (const list of ["registry/exchanges.json", "registry/all.json"]) {
    const three = await loadRegistry(packagedFile(list), 3);
    const endpoints = three.venues.flatMap((venue) => venue.rest.map((one) => ({ venue, ...one })));
    for (const venue of three.venues)
      for (const { origin, endpoints: names, requests, periodMs } of venue.limits ?? []) {
        const counted = endpoints.filter(
          (one) => originsOf(one).includes(origin) && (!names || (one.venue === venue && names.includes(one.name))),
        );
        const perPeriod = counted.reduce((sum, { cadenceMs }) => sum + (3 * periodMs) / cadenceMs, 0);
        t.ok(perPeriod <= requests / 2 + 1e-9, `${venue.id}: ${perPeriod} of ${requests} at ${origin}`);
      }
    const one = await loadRegistry(packagedFile(list), 1);
    for (const { id, rest } of one.venues) t.strictSame(cadencesOf(rest), cadencesOf(catalogue(id).rest), id);
  }
  t.end();
});

void t.test("every component id is one that the API may show", (t) => {
  for (const venue of all.venues)
    for (const { id, kind, label, target } of componentsOf(venue)) {
      t.match(id, /^(rest|ws):[a-z]+$/);
      t.ok(id.startsWith(`${kind}:`));
      t.ok(label);
      t.match(target, kind === "rest" ? /^https:/ : /^wss:/);
    }
  t.end();
});

void t.test("a component states what is measured, where and how often", (t) => {
  const components = componentsOf(venueOf("binance-futures"));
  const byId = new Map(components.map((one) => [one.id, one]));
  t.strictSame(byId.get("rest:trades"), {
    ...{ id: "rest:trades", kind: "rest", label: "Most recent trade", cadenceMs: 15_000 },
    target: "https://fapi.binance.com/fapi/v1/trades?symbol=BTCUSDT&limit=1",
  });
  t.strictSame(byId.get("ws:conn"), {
    ...{ id: "ws:conn", kind: "ws", label: "Socket", cadenceMs: 10_000 },
    target: "wss://fstream.binance.com/market/stream",
  });
  const book = "wss://fstream.binance.com/public/stream";
  t.equal(byId.get("ws:book")?.target, book, "a stream on its own socket");
  t.equal(idsOf(componentsOf(venueOf("transak"))), "rest:fiat rest:countries", "a venue without a socket");
  t.end();
});

void t.test("thresholds without measurements follow the rule", (t) => {
  for (const { id, chain, socket } of all.venues)
    for (const stream of socket?.streams ?? []) {
      const { name, typicalPerMinute, rateBasis, stall } = stream;
      if (stall.distribution !== null) continue;
      const meanMs = 60_000 / typicalPerMinute;
      const [leastMs, intervals] = rateBasis === "estimate" ? [15_000, 60] : [10_000, 10];
      const ruleMs = Math.max(leastMs, intervals * meanMs);
      const blocksMs = chain === "ethereum" ? 60_000 : 0;
      const expectedMs = name === "heads" && blocksMs > 0 ? blocksMs : Math.max(ruleMs, blocksMs);
      t.equal(stall.afterMs, Math.ceil(expectedMs / 1000) * 1000, `${id} ws:${name}`);
    }
  t.end();
});

void t.test("each venue states which side keeps its socket alive", (t) => {
  const rules = fifteen.venues.map(({ id, socket }) => {
    const { send, replyWithinMs, deadAfterMs } = socket!.keepAlive;
    const everyMs = "everyMs" in send ? send.everyMs : null;
    return [id, send.kind, everyMs, replyWithinMs, deadAfterMs];
  });
  t.strictSame(rules, [
    ["binance", "none", null, null, 45_000],
    ["coinbase", "none", null, null, 10_000],
    ["kraken", "json", 30_000, 10_000, 10_000],
    ["okx", "text", 25_000, 10_000, null],
    ["bybit", "json", 20_000, 10_000, null],
    ["kucoin", "json", 15_000, 10_000, null],
    ["gate", "json", 15_000, 10_000, null],
    ["bitget", "text", 25_000, 10_000, null],
    ["bitfinex", "none", null, null, 35_000],
    ["bitstamp", "json", 15_000, 10_000, null],
    ["gemini", "none", null, null, 30_000],
    ["deribit", "once", null, null, 45_000],
    ["binance-futures", "ping", 30_000, 20_000, null],
    ["kraken-futures", "ping", 30_000, 20_000, null],
    ["kucoin-futures", "json", 15_000, 10_000, null],
  ]);
  t.strictSame(venueOf("deribit").socket?.keepAlive.respond, {
    when: { path: "$.params.type", equals: "test_request" },
    message: { jsonrpc: "2.0", id: 10, method: "public/test", params: {} },
  });
  t.end();
});

void t.test("venues that read a chain are asked for its head, and no others", (t) => {
  const heads = wide.venues.flatMap(({ id, rest }) =>
    rest.flatMap(({ name, head }) => (head ? [`${id} rest:${name} ${head.path} ${head.encoding}`] : [])),
  );
  t.strictSame(heads, [
    "publicnode rest:block $.result hex",
    "publicnode rest:head $.result.number hex",
    "drpc rest:block $.result hex",
    "solana rest:slot $.result integer",
    "solana rest:blockhash $.result.context.slot integer",
    ...["chainlink", "usdc", "usdt", "dai", "across", "wormhole"].map((id) => `${id} rest:head $.result hex`),
  ]);
  for (const { id, chain, rest } of all.venues) {
    const readsHead = rest.some(({ head }) => head);
    t.equal(chain !== null, readsHead, id);
  }
  t.end();
});

void t.test("the schema describes in words what it expects everywhere", (t) => {
  const schema = JSON.parse(readFileSync(packagedFile("registry/schema.json"), "utf8")) as Node;
  t.ok(schema.description);
  for (const [place, node] of nodesOf(schema, "#")) t.ok(node.description ?? node.$ref ?? node.const, place);
  t.end();
});

interface Node {
  $ref?: string;
  const?: string;
  description?: string;
  items?: Node;
  properties?: Record<string, Node>;
  definitions?: Record<string, Node>;
  oneOf?: Node[];
}

function* nodesOf(node: Node, place: string): Generator<[string, Node]> {
  const children = Object.entries({
    ...{ ...node.properties, ...node.definitions, ...Object.fromEntries((node.oneOf ?? []).entries()) },
    ...(node.items && { items: node.items }),
  });
  for (const [name, child] of children) {
    yield [`${place}/${name}`, child];
    yield* nodesOf(child, `${place}/${name}`);
  }
}

function idsOf(list: readonly { id: string }[]): string {
  return list.map(({ id }) => id).join(" ");
}

function venueOf(id: string): Venue {
  const venue = all.venues.find((one) => one.id === id);
  if (venue === undefined) throw new Error(`no venue ${id} in the registry`);
  return venue;
}

function originsOf({ url, alternatives = [] }: RestEndpoint): string[] {
  return [url, ...alternatives].map((address) => new URL(address).origin);
}

function cadencesOf(rest: RestEndpoint[]) {
  return rest.map(({ name, cadenceMs }) => [name, cadenceMs]);
}

function requestsPerMinute({ rest }: Venue): number {
  return rest.reduce((sum, { cadenceMs }) => sum + 60_000 / cadenceMs, 0);
}
