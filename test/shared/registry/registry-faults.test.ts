import { join } from "node:path";
import t, { type Test } from "tap";
import { loadRegistry, parseRegistry } from "../../../shared/registry/load-registry.js";

/** The smallest registry that has everything; each call returns a new one to break. */
function good() {
  const rest = [
    {
      name: "block",
      label: "Latest block",
      method: "POST",
      url: "http://127.0.0.1:8080/rpc",
      body: { method: "eth_blockNumber" },
      expectStatus: 200,
      proof: [
        { path: "$.result" },
        { path: "$.ok", equals: true },
        { path: "$.state", equals: ["open", 1, false] },
        { path: "$.blocks", is: "list" },
        { unless: "$.error" },
      ] as unknown,
      head: { path: "$.result", encoding: "hex" },
      newest: { path: "$.at", list: "$.blocks", unit: "iso" },
      dataTime: { path: "$.at", unit: "s", staleAfterMs: 60000 },
      cadenceMs: 5000,
      timeoutMs: 4500,
    },
  ];
  const stream = {
    name: "trades",
    label: "Trades",
    subscribe: { event: "subscribe", channel: "trades" },
    acknowledge: [{ path: "$.result", equals: [true, "true"] }],
    match: { path: "$[0]", equals: "{chanId:trades}" },
    ignore: { path: "$[1]", equals: "hb" },
    eventTime: { path: "$[2][1]", unit: "ms" },
    staleAfterMs: 30000,
    counterpart: "block",
    cadenceMs: 10000,
    typicalPerMinute: 60,
    rateBasis: "probed",
    stall: {
      afterMs: 10000,
      distribution: {
        periods: 100,
        from: "2026-10-01",
        to: "2026-10-31",
        p50Ms: 1,
        p99Ms: 2.5,
        p999Ms: 9,
      },
    },
  };
  const socket = {
    url: "ws://localhost:8081/ws",
    welcome: [{ path: "$.message", equals: "welcome" }],
    keepAlive: {
      send: { kind: "json", everyMs: 20000, message: { op: "ping" } },
      replyWithinMs: 10000,
      deadAfterMs: null,
      respond: { when: { path: "$.method" }, message: { op: "pong" } },
    },
    maxConnectionMs: 86400000,
    streams: [stream],
  };
  const official = {
    kind: "statuspage",
    page: null,
    api: "https://status.example.com/api/v2/incidents.json",
    about: ["Futures"],
  };
  const okx = {
    id: "okx",
    name: "OKX",
    category: "bridge",
    symbol: null,
    quote: null,
    chain: "ethereum",
    rest,
    socket,
    official,
  };
  const gate = { ...structuredClone(okx), id: "gate", name: "Gate" };
  return {
    probeIntervalMs: 5000,
    regions: [
      { id: "eu-central", name: "Central Europe" },
      { id: "us-east", name: "US East" },
    ],
    chains: { ethereum: { blockMs: 12000, source: "the protocol" } },
    venues: [okx, gate],
  };
}

void t.test("a valid registry is accepted unchanged", (t) => {
  const value = good();
  t.equal(parseRegistry(value, "it"), value);
  t.end();
});

const duration = "a whole number of milliseconds from 100 to 86400000 (a day)";
const text = "a text of 1 to 100 characters without control characters";
const id = "an id of small letters and digits, in words joined by -, 40 characters at most";
const webUrl = "an https:// address without a user name or fragment (http:// on this machine only)";
const socketUrl = "a wss:// address without a user name or fragment (ws:// on this machine only)";
const path = "a path such as $, $.a.b[0] or $['any key'], 200 characters at most";
const proof =
  "what proves an answer good: a path, a condition (an object with path and perhaps equals or is, or with unless alone) or a list of one or more conditions";

void t.test("a measured threshold may contradict the usual rate", (t) => {
  const value = good();
  changed(value, "venues.0.socket.streams.0.stall.afterMs", 999);
  t.strictSame(problemsOf(value), []);
  t.end();
});

/** A place in the valid registry, the value to put there (undefined: none), and the expected messages. */
const faults: [at: string, value: unknown, ...lines: string[]][] = [
  // shape
  ["probeIntervalMs", undefined, `probeIntervalMs: expected ${duration}, found nothing`],
  ["probeIntervalMs", "5000", `probeIntervalMs: expected ${duration}, found "5000"`],
  ["regions", [], "regions: expected a list of one or more regions, found []"],
  ["regions.0", "eu", 'regions[0]: expected a region: an object with id and name, found "eu"'],
  ["regions.1.id", "US East", `regions[1] (US East).id: expected ${id}, found "US East"`],
  ["regions.1.note", "x", 'regions[1] (us-east).note: expected no such property (known here: id, name), found "x"'],
  ["venues", {}, "venues: expected a list of one or more venues, found {}"],
  [
    "venues.1.category",
    "casino",
    'venues[1] (gate).category: expected one of exchange, rpc, market-data, oracle, stablecoin, bridge, ramp, found "casino"',
  ],
  ["venues.0.id", 7, `venues[0].id: expected ${id}, found 7`],
  ["venues.0.name", "", `venues[0] (okx).name: expected ${text}, found ""`],
  ["venues.0.name", "O\nX", `venues[0] (okx).name: expected ${text}, found "O\\nX"`],
  [
    "venues.0.rest.0.name",
    "block1",
    'venues[0] (okx).rest[0].name: expected a name of small letters only, 40 at most, found "block1"',
  ],
  [
    "venues.0.rest.0.url",
    "http://example.com/",
    `venues[0] (okx).rest[0].url: expected ${webUrl}, found "http://example.com/"`,
  ],
  [
    "venues.0.rest.0.url",
    "https://user:word@example.com/",
    `venues[0] (okx).rest[0].url: expected ${webUrl}, found "https://***@example.com/"`,
  ],
  [
    "venues.0.rest.0.url",
    "http://127.0.0.1.example.com/",
    `venues[0] (okx).rest[0].url: expected ${webUrl}, found "http://127.0.0.1.example.com/"`,
  ],
  ["venues.0.rest.0.cadenceMs", 2.5, `venues[0] (okx).rest[0].cadenceMs: expected ${duration}, found 2.5`],
  ["venues.0.rest.0.method", "PUT", 'venues[0] (okx).rest[0].method: expected GET or POST, found "PUT"'],
  ["venues.0.rest.0.proof", "result", `venues[0] (okx).rest[0].proof: expected ${proof}, found "result"`],
  ["venues.0.rest.0.proof", [], `venues[0] (okx).rest[0].proof: expected ${proof}, found []`],
  [
    "venues.0.rest.0.proof",
    { path: "$.list", is: "array" },
    'venues[0] (okx).rest[0].proof.is: expected the word list, found "array"',
  ],
  [
    "venues.0.rest.0.proof.0.equals",
    null,
    "venues[0] (okx).rest[0].proof[0].equals: expected a text, a number, true or false, or a list of one or more of them, found null",
  ],
  [
    "venues.0.rest.0.proof.0.equals",
    [],
    "venues[0] (okx).rest[0].proof[0].equals: expected a text, a number, true or false, or a list of one or more of them, found []",
  ],
  [
    "venues.0.rest.0.newest.unit",
    "days",
    'venues[0] (okx).rest[0].newest.unit: expected one of ns, us, ms, s, iso, id, found "days"',
  ],
  [
    "venues.0.rest.0.dataTime.unit",
    "id",
    'venues[0] (okx).rest[0].dataTime.unit: expected one of ns, us, ms, s, iso, found "id"',
  ],
  [
    "venues.0.rest.0.dataTime.staleAfterMs",
    undefined,
    `venues[0] (okx).rest[0].dataTime.staleAfterMs: expected ${duration}, found nothing`,
  ],
  [
    "chains.ethereum",
    12000,
    "chains.ethereum: expected a chain: an object with blockMs, the usual time between two heads, and source, where that is said, found 12000",
  ],
  [
    "chains.ethereum.source",
    "",
    'chains.ethereum.source: expected a text of 1 to 300 characters without control characters, found ""',
  ],
  [
    "venues.0.socket.welcome",
    [],
    "venues[0] (okx).socket.welcome: expected what holds of a frame: a list of one or more conditions, found []",
  ],
  [
    "venues.0.rest.0.head.encoding",
    undefined,
    "venues[0] (okx).rest[0].head.encoding: expected hex or integer, found nothing",
  ],
  [
    "venues.0.socket.url",
    "ws://example.com",
    `venues[0] (okx).socket.url: expected ${socketUrl}, found "ws://example.com"`,
  ],
  ["venues.0.socket.streams", [], "venues[0] (okx).socket.streams: expected a list of one or more streams, found []"],
  [
    "venues.0.socket.streams.0.name",
    "conn",
    'venues[0] (okx).socket.streams[0].name: expected a name of small letters only, 40 at most, not conn (ws:conn is the socket itself), found "conn"',
  ],
  [
    "venues.0.socket.keepAlive.send",
    {},
    "venues[0] (okx).socket.keepAlive.send.kind: expected one of none, ping, text, json, once, found nothing",
  ],
  [
    "venues.0.socket.keepAlive.send.kind",
    "smoke",
    'venues[0] (okx).socket.keepAlive.send.kind: expected one of none, ping, text, json, once, found "smoke"',
  ],
  [
    "venues.0.socket.keepAlive.send",
    { kind: "text", text: "ping", message: 1 },
    `venues[0] (okx).socket.keepAlive.send.everyMs: expected ${duration}, found nothing`,
    "venues[0] (okx).socket.keepAlive.send.message: expected no such property (known here: kind, everyMs, text), found 1",
  ],
  [
    "venues.0.socket.streams.0.match.equals",
    { any: "of these" },
    'venues[0] (okx).socket.streams[0].match.equals: expected a text, a number, true or false, found {"any":"of these"}',
  ],
  [
    "venues.0.socket.streams.0.match",
    [],
    "venues[0] (okx).socket.streams[0].match: expected a condition on a frame, an object with path and perhaps equals, or a list of one or more of them, found []",
  ],
  [
    "venues.0.socket.streams.0.match",
    [{ equals: "trades" }],
    `venues[0] (okx).socket.streams[0].match[0].path: expected ${path}, found nothing`,
  ],
  [
    "venues.0.socket.streams.0.typicalPerMinute",
    0,
    "venues[0] (okx).socket.streams[0].typicalPerMinute: expected a number of frames a minute above 0, found 0",
  ],
  [
    "venues.0.socket.streams.0.stall.distribution.to",
    "2026-13-01",
    'venues[0] (okx).socket.streams[0].stall.distribution.to: expected a date such as 2026-10-31, found "2026-13-01"',
  ],
  [
    "venues.0.official.kind",
    undefined,
    "venues[0] (okx).official.kind: expected one of statuspage, binance-system-status, okx-system-status, bybit-system-status, kucoin-service-status, betterstack, html, found nothing",
  ],
  [
    "venues.0.what/is~this",
    { long: "x".repeat(100) },
    `venues[0] (okx)["what/is~this"]: expected no such property (known here: id, formerIds, name, category, symbol, quote, chain, rest, socket, official), found {"long":"${"x".repeat(50)}…`,
  ],

  // rules
  [
    "venues.0.rest.0.proof.0",
    { equals: 1 },
    'venues[0] (okx).rest[0].proof[0]: expected a condition with path or unless, found {"equals":1}',
  ],
  [
    "venues.0.rest.0.proof",
    { path: "$.a", unless: "$.b" },
    'venues[0] (okx).rest[0].proof.unless: expected none with path, as a condition tests one thing, found "$.b"',
  ],
  [
    "venues.0.rest.0.proof",
    { path: "$.a", is: "list", equals: 1 },
    'venues[0] (okx).rest[0].proof.is: expected none with equals or unless, as a condition tests one thing, found "list"',
  ],
  [
    "venues.0.rest.0.proof",
    { unless: "$.a", equals: 1 },
    "venues[0] (okx).rest[0].proof.equals: expected none with unless, as a condition tests one thing, found 1",
  ],
  [
    "venues.0.rest.0.proof",
    { unless: "$.a." },
    `venues[0] (okx).rest[0].proof.unless: expected a path (expected .key, [n] or ['any key'] at character 4 of "$.a.", found "."), found "$.a."`,
  ],
  [
    "venues.0.rest.0.newest.path",
    "$.a.",
    `venues[0] (okx).rest[0].newest.path: expected a path (expected .key, [n] or ['any key'] at character 4 of "$.a.", found "."), found "$.a."`,
  ],
  [
    "venues.0.rest.0.newest.list",
    "$.a.",
    `venues[0] (okx).rest[0].newest.list: expected a path (expected .key, [n] or ['any key'] at character 4 of "$.a.", found "."), found "$.a."`,
  ],
  [
    "venues.0.rest.0.newest.unit",
    "id",
    'venues[0] (okx).rest[0].newest.list: expected none with unit id, as ids have no maximum, found "$.blocks"',
  ],
  [
    "venues.0.rest.0.dataTime.path",
    "$.a.",
    `venues[0] (okx).rest[0].dataTime.path: expected a path (expected .key, [n] or ['any key'] at character 4 of "$.a.", found "."), found "$.a."`,
  ],
  [
    "venues.0.socket.welcome.0",
    { equals: "welcome" },
    'venues[0] (okx).socket.welcome[0]: expected a condition with path or unless, found {"equals":"welcome"}',
  ],
  [
    "venues.0.socket.streams.0.acknowledge.0.equals",
    "{chanId:trades}",
    'venues[0] (okx).socket.streams[0].acknowledge[0].equals: expected no placeholder, as those are allowed in match and ignore only, found "{chanId:trades}"',
  ],
  [
    "venues.0.socket.streams.0.counterpart",
    "trades",
    'venues[0] (okx).socket.streams[0].counterpart: expected block, found "trades"',
  ],
  [
    "venues.0.rest.0.newest",
    undefined,
    'venues[0] (okx).socket.streams[0].counterpart: expected none, as no REST endpoint of this venue has newest, found "block"',
  ],
  [
    "venues.0.socket.streams.0.eventTime",
    undefined,
    "venues[0] (okx).socket.streams[0].staleAfterMs: expected none without eventTime, as an event without a time has no age, found 30000",
  ],
  [
    "regions.1.id",
    "eu-central",
    'regions[1] (eu-central).id: expected another id than that of regions[0], found "eu-central"',
  ],
  ["venues.1.id", "okx", 'venues[1] (okx).id: expected another id than that of venues[0], found "okx"'],
  [
    "venues.0.category",
    "exchange",
    "venues[0] (okx).symbol: expected a text, as an exchange trades, found null",
    "venues[0] (okx).quote: expected a text, as an exchange trades, found null",
  ],
  ["venues.0.symbol", "ETH", "venues[0] (okx).quote: expected a text, as symbol, found null"],
  ["venues.0.quote", "USD", "venues[0] (okx).symbol: expected a text, as quote, found null"],
  [
    "venues.0.rest.0.timeoutMs",
    5001,
    "venues[0] (okx).rest[0].timeoutMs: expected at most 4500, nine tenths of its cadenceMs (a measurement must end before the next begins), found 5001",
  ],
  [
    "venues.0.rest.0.method",
    "GET",
    'venues[0] (okx).rest[0].body: expected none with GET, found {"method":"eth_blockNumber"}',
  ],
  [
    "venues.0.rest.0.proof",
    "$.result..x",
    `venues[0] (okx).rest[0].proof: expected a path (expected .key, [n] or ['any key'] at character 9 of "$.result..x", found "."), found "$.result..x"`,
  ],
  [
    "venues.0.rest.0.head.path",
    "$.[0]",
    `venues[0] (okx).rest[0].head.path: expected a path (expected .key, [n] or ['any key'] at character 2 of "$.[0]", found "."), found "$.[0]"`,
  ],
  [
    "venues.0.chain",
    null,
    'venues[0] (okx).rest[0].head: expected none, as the venue has no chain, found {"path":"$.result","encoding":"hex"}',
  ],
  [
    "venues.0.rest.0.url",
    "https://example.com:70000/",
    'venues[0] (okx).rest[0].url: expected an address with a valid host and port, found "https://example.com:70000/"',
  ],
  [
    "venues.0.socket.keepAlive.replyWithinMs",
    20001,
    "venues[0] (okx).socket.keepAlive.replyWithinMs: expected at most 20000, its send.everyMs, found 20001",
  ],
  [
    "venues.0.socket.keepAlive.send",
    { kind: "none" },
    "venues[0] (okx).socket.keepAlive.replyWithinMs: expected null with send.kind none, found 10000",
  ],
  [
    "venues.0.socket.keepAlive.respond.when.path",
    "$x",
    `venues[0] (okx).socket.keepAlive.respond.when.path: expected a path (expected .key, [n] or ['any key'] at character 2 of "$x", found "x"), found "$x"`,
  ],
  [
    "venues.0.socket.streams.0.match.equals",
    "{chanId:ticker}",
    'venues[0] (okx).socket.streams[0].match.equals: expected {chanId:trades}, found "{chanId:ticker}"',
  ],
  [
    "venues.0.socket.streams.0.match",
    [{ path: "$.data" }, { path: "$[0]", equals: "{chanId:ticker}" }],
    'venues[0] (okx).socket.streams[0].match[1].equals: expected {chanId:trades}, found "{chanId:ticker}"',
  ],
  [
    "venues.0.socket.streams.0.subscribe",
    null,
    'venues[0] (okx).socket.streams[0].match.equals: expected no placeholder, as no stream has a channel, found "{chanId:trades}"',
  ],
  [
    "venues.0.socket.streams.0.eventTime.path",
    "$[",
    `venues[0] (okx).socket.streams[0].eventTime.path: expected a path (expected .key, [n] or ['any key'] at character 2 of "$[", found "["), found "$["`,
  ],
  [
    "venues.0.socket.streams.0.stall",
    { afterMs: 999, distribution: null },
    "venues[0] (okx).socket.streams[0].stall.afterMs: expected at least 1000, the mean interval at typicalPerMinute 60, found 999",
  ],
  [
    "venues.0.socket.streams.0.stall.distribution.p999Ms",
    10001,
    "venues[0] (okx).socket.streams[0].stall.afterMs: expected at least 10001, the p999Ms that it was derived from, found 10000",
  ],
  [
    "venues.0.socket.streams.0.stall.distribution.p50Ms",
    3,
    "venues[0] (okx).socket.streams[0].stall.distribution.p99Ms: expected at least 3, its p50Ms, found 2.5",
  ],
  [
    "venues.0.socket.streams.0.stall.distribution.p99Ms",
    10,
    "venues[0] (okx).socket.streams[0].stall.distribution.p999Ms: expected at least 10, its p99Ms, found 9",
  ],
  [
    "venues.0.socket.streams.0.stall.distribution.to",
    "2026-09-30",
    'venues[0] (okx).socket.streams[0].stall.distribution.to: expected a date not before from, 2026-10-01, found "2026-09-30"',
  ],
  ["venues.0.official.api", null, "venues[0] (okx).official.api: expected an address with kind statuspage, found null"],
  [
    "venues.0.official.kind",
    "html",
    "venues[0] (okx).official.page: expected an address with kind html, found null",
    'venues[0] (okx).official.api: expected null with kind html, found "https://status.example.com/api/v2/incidents.json"',
  ],
];

for (const [at, value, ...lines] of faults)
  void t.test(`${at} = ${JSON.stringify(value)?.slice(0, 40)}`, (t) => {
    t.strictSame(problemsOf(changed(good(), at, value)), lines);
    t.end();
  });

void t.test("a socket's streams may look at any number of places", (t) => {
  const value = good();
  const { streams } = value.venues[0]!.socket;
  for (let place = 0; place < 40; place += 1)
    streams.push({
      ...structuredClone(streams[0]!),
      name: "x".repeat(place + 1),
      match: { path: `$.data[${place}]`, equals: "x" },
    });
  t.strictSame(problemsOf(value), []);
  t.end();
});

void t.test("names are unique within a venue, not across venues", (t) => {
  const value = good();
  const { rest, socket } = value.venues[1]!;
  rest.push(structuredClone(rest[0]!));
  socket.streams.push(structuredClone(socket.streams[0]!));
  t.strictSame(problemsOf(value), [
    'venues[1] (gate).rest[1].name: expected another name than that of rest[0], found "block"',
    'venues[1] (gate).socket.streams[1].name: expected another name than that of streams[0], found "trades"',
  ]);
  t.end();
});

void t.test("an RPC provider trades nothing", (t) => {
  const value = good();
  Object.assign(value.venues[0]!, {
    category: "rpc",
    symbol: "ETH",
    quote: "USD",
  });
  t.strictSame(problemsOf(value), [
    'venues[0] (okx).symbol: expected null with category rpc, found "ETH"',
    'venues[0] (okx).quote: expected null with category rpc, found "USD"',
  ]);
  t.end();
});

void t.test("a venue with nothing to measure is refused", (t) => {
  const value = good();
  Object.assign(value.venues[0]!, { rest: [], socket: null });
  t.strictSame(problemsOf(value), ["venues[0] (okx).rest: expected an endpoint, as the venue has no socket, found []"]);
  t.end();
});

void t.test("all problems are reported at once, those of shape and of sense", (t) => {
  const value = good();
  changed(value, "probeIntervalMs", 0);
  changed(value, "venues.0.rest.0.cadenceMs", undefined);
  changed(value, "venues.0.colour", "red");
  changed(value, "venues.1.rest.0.timeoutMs", 6000);
  changed(value, "venues.1.id", "okx");
  t.strictSame(problemsOf(value), [
    `probeIntervalMs: expected ${duration}, found 0`,
    'venues[0] (okx).colour: expected no such property (known here: id, formerIds, name, category, symbol, quote, chain, rest, socket, official), found "red"',
    `venues[0] (okx).rest[0].cadenceMs: expected ${duration}, found nothing`,
    'venues[1] (okx).id: expected another id than that of venues[0], found "okx"',
    "venues[1] (okx).rest[0].timeoutMs: expected at most 4500, nine tenths of its cadenceMs (a measurement must end before the next begins), found 6000",
  ]);
  t.end();
});

void t.test("an error in one part hides none in another", (t) => {
  const value = good();
  const [venue] = value.venues;
  venue!.rest.push({ ...structuredClone(venue!.rest[0]!), name: "other" });
  changed(value, "venues.0.chain", undefined);
  changed(value, "venues.0.rest.0.label", undefined);
  changed(value, "venues.0.rest.1.timeoutMs", 6000);
  changed(value, "venues.0.category", "exchange");
  changed(value, "venues.0.socket.streams.0.eventTime.path", "$[");
  changed(value, "venues.0.official.api", null);
  t.strictSame(problemsOf(value), [
    `venues[0] (okx).chain: expected a text of 1 to 100 characters without control characters, or null, found nothing`,
    `venues[0] (okx).rest[0].label: expected ${text}, found nothing`,
    "venues[0] (okx).symbol: expected a text, as an exchange trades, found null",
    "venues[0] (okx).quote: expected a text, as an exchange trades, found null",
    "venues[0] (okx).rest[1].timeoutMs: expected at most 4500, nine tenths of its cadenceMs (a measurement must end before the next begins), found 6000",
    `venues[0] (okx).socket.streams[0].eventTime.path: expected a path (expected .key, [n] or ['any key'] at character 2 of "$[", found "["), found "$["`,
    "venues[0] (okx).official.api: expected an address with kind statuspage, found null",
  ]);
  t.end();
});

void t.test("an error in one part hides no other error in it", (t) => {
  const value = good();
  for (const [place, wrong] of [
    ["venues.0.rest.0.label", undefined],
    ["venues.0.rest.0.colour", "red"],
    ["venues.0.rest.0.timeoutMs", 6000],
    ["venues.0.rest.0.proof", "$["],
    ["venues.0.socket.url", 7],
    ["venues.0.socket.keepAlive.replyWithinMs", 20_001],
    ["venues.0.socket.streams.0.label", ""],
    ["venues.0.socket.streams.0.stall.distribution.p50Ms", 5],
    ["venues.0.socket.streams.0.counterpart", "other"],
    ["venues.0.official.page", 7],
    ["venues.0.official.api", null],
  ] as const)
    changed(value, place, wrong);
  t.strictSame(
    problemsOf(value)
      .map((line) => line.split(":")[0]!.replace("venues[0] (okx).", ""))
      .sort(),
    [
      "official.api",
      "official.page",
      "rest[0].colour",
      "rest[0].label",
      "rest[0].proof",
      "rest[0].timeoutMs",
      "socket.keepAlive.replyWithinMs",
      "socket.streams[0].counterpart",
      "socket.streams[0].label",
      "socket.streams[0].stall.distribution.p99Ms",
      "socket.url",
    ],
  );
  t.end();
});

void t.test("all of 127.0.0.0/8 counts as this machine", (t) => {
  const at = (place: string, host: string) => problemsOf(changed(good(), place, host)).length;
  t.equal(at("venues.0.rest.0.url", "http://127.77.0.1:8080/x"), 0);
  t.equal(at("venues.0.socket.url", "ws://127.255.255.254/x"), 0);
  for (const url of [
    "http://127.0.0.1.example.com/",
    "http://128.0.0.1/",
    "http://127.0.0.256/",
    "http://127.0.0.1@example.com/",
  ])
    t.equal(at("venues.0.rest.0.url", url), 1, url);
  t.end();
});

const noRegistry =
  "the whole file: expected a registry: an object with probeIntervalMs, regions, venues and perhaps chains";

for (const value of [null, 7, "registry", [], true])
  void t.test(`${JSON.stringify(value)} is no registry`, (t) => {
    t.strictSame(problemsOf(value), [`${noRegistry}, found ${JSON.stringify(value)}`]);
    t.end();
  });

void t.test("the problems of a thoroughly wrong file are limited in number", (t) => {
  const problems = problemsOf({ ...good(), venues: Array(300).fill(7) });
  t.equal(problems.length, 201);
  t.equal(problems.at(-1), "… and 100 more problems");
  t.end();
});

void t.test("a file that cannot be read is reported in one sentence", async (t) => {
  const folder = t.testdir({
    "latin1.json": Buffer.from([0x22, 0xfc, 0x22]),
    "huge.json": " ".repeat(4 * 1024 * 1024 + 1),
  });
  const refused: [file: string, reason: string][] = [
    ["missing.json", "there is no such file"],
    ["", "it is not a file"],
    ["latin1.json", "it is not UTF-8"],
    ["huge.json", "expected at most 4194304 bytes, got 4194305"],
  ];
  for (const [file, reason] of refused) {
    const path = join(folder, file);
    await t.rejects(loadRegistry(path), {
      message: `The registry ${path} cannot be read: ${reason}`,
    });
  }
});

void t.test("an id, present or former, belongs to one venue", (t) => {
  const problem = (place: string, formerIds: unknown) => problemsOf(changed(good(), place, formerIds));
  t.strictSame(problem("venues.0.formerIds", ["okex"]), []);
  t.strictSame(problem("venues.0.formerIds", ["gate"]), [
    'venues[0] (okx).formerIds[0]: expected an id other than that of venues[1], found "gate"',
  ]);
  t.strictSame(problem("venues.0.formerIds", ["okx"]), [
    `venues[0] (okx).formerIds[0]: expected an id other than the venue's own, found "okx"`,
  ]);
  t.strictSame(problem("venues.0.formerIds", ["okex", "okex"]), [
    'venues[0] (okx).formerIds[1]: expected an id that is in formerIds only once, found "okex"',
  ]);
  t.strictSame(problemsOf(changed(changed(good(), "venues.0.formerIds", ["older"]), "venues.1.formerIds", ["older"])), [
    'venues[1] (gate).formerIds[0]: expected an id that is in formerIds only once, found "older"',
  ]);
  t.strictSame(problem("venues.0.formerIds", []), [
    "venues[0] (okx).formerIds: expected a list of one or more ids that the venue had before, found []",
  ]);
  t.strictSame(problem("venues.0.formerIds", ["OKEx"]), [`venues[0] (okx).formerIds[0]: expected ${id}, found "OKEx"`]);
  t.end();
});

void t.test("names and passwords in addresses are not shown", (t) => {
  for (const url of [
    "https://user:hunter2@example.com/",
    "https://user:hunter2/@/hunter2@example.com/",
    "wss://hunter2@example.com",
  ]) {
    const [told = ""] = problemsOf(changed(good(), "venues.0.rest.0.url", url));
    t.notMatch(told, "hunter2");
    t.match(told, "://***@example.com");
  }
  for (const url of [
    'https://user:hun"hunter2"@example.com/',
    "https://user:a hunter2@example.com",
    "https:/user:hunter2@example.com",
    "https:\\\\user:hunter2@example.com",
    "user:hunter2@example.com",
    "//user:hunter2@example.com",
    "ftp://example.com/?x=1&api_key=hunter2",
  ]) {
    const value = changed(good(), "venues.0.rest.0.url", url);
    t.notMatch(problemsOf(value), "hunter2", url);
    t.notMatch(problemsOf(changed(good(), "venues.0.id", url)), "hunter2");
    t.notMatch(problemsOf({ ...good(), [url]: url }), "hunter2");
    t.notMatch(problemsOf({ ...good(), regions: [{ [url]: 1 }] }), "hunter2");
  }
  const listed = changed(good(), "venues.0.rest.0.name", ["btcusdt@trade"]);
  t.match(problemsOf(listed), [/found \["btcusdt@trade"\]/], "it is no address");
  t.end();
});

void t.test("a property that appears twice in an object", async (t) => {
  const value = changed(good(), "venues.0.rest.0.timeoutMs", 6000);
  const path = written(t, JSON.stringify(value).replace("{", '{"venues": 1,\n'));
  const twice = "expected another property name, as the object already has this one";
  await t.rejects(loadRegistry(path), {
    message: new RegExp(
      `^The registry ${path} is wrong:\nline 2, column \\d+: ${twice}, found "venues":.*\nvenues\\[0\\] \\(okx\\).rest\\[0\\].timeoutMs: expected at most 4500, [^\n]*$`,
    ),
  });
});

void t.test("a device is not read: it may never end", async (t) => {
  await t.rejects(loadRegistry("/dev/zero"), {
    message: "The registry /dev/zero cannot be read: it is not a file",
  });
});

void t.test("a file that is not JSON is reported with line and column", async (t) => {
  const path = written(t, '{\n  "regions": [\n    oops\n');
  await t.rejects(loadRegistry(path), {
    message: `The registry ${path} is not JSON: line 3, column 5: expected a value or ], found oops`,
  });
});

void t.test("a wrong file is refused with its name, one line per problem", async (t) => {
  const value = changed(changed(good(), "venues.0.id", "OKX"), "regions", 1);
  const path = written(t, JSON.stringify(value));
  await t.rejects(loadRegistry(path), {
    message: [
      `The registry ${path} is wrong:`,
      "regions: expected a list of one or more regions, found 1",
      `venues[0] (OKX).id: expected ${id}, found "OKX"`,
    ].join("\n"),
  });
});

void t.test("a byte order mark is accepted", async (t) => {
  const path = written(t, `\ufeff${JSON.stringify(good())}`);
  t.strictSame(await loadRegistry(path), good());
});

void t.test("a key of JSON cannot reach the prototypes", (t) => {
  const value = JSON.parse(JSON.stringify(good()).replace("{", '{"__proto__": {"venues": []}, ')) as unknown;
  t.strictSame(problemsOf(value), [
    '__proto__: expected no such property (known here: probeIntervalMs, regions, chains, venues), found {"venues":[]}',
  ]);
  t.end();
});

function problemsOf(value: unknown): string[] {
  try {
    parseRegistry(value, "test");
    return [];
  } catch (error) {
    const [title, ...problems] = (error as Error).message.split("\n");
    t.equal(title, "The registry test is wrong:");
    return problems;
  }
}

/** `at` is a path of keys and indices joined by dots. */
function changed<T>(registry: T, at: string, value: unknown): T {
  const keys = at.split(".");
  const last = keys.pop()!;
  const parent = keys.reduce(
    (inner, key) => inner[key] as Record<string, unknown>,
    registry as Record<string, unknown>,
  );
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return registry;
}

function written(t: Test, content: string): string {
  return join(t.testdir({ "registry.json": content }), "registry.json");
}
