/** What may be wrong in a registry, each time one value in the smallest valid one, and the messages. */

export const duration = "a whole number of milliseconds from 100 to 86400000 (a day)";
export const text = "a text of 1 to 100 characters without control characters";
export const id = "an id of small letters and digits, in words joined by -, 40 characters at most";
const webUrl = "an https:// address without a user name or fragment (http:// on this machine only)";
const socketUrl = "a wss:// address without a user name or fragment (ws:// on this machine only)";
const path = "a path such as $, $.a.b[0] or $['any key'], 200 characters at most";
const proof =
  "what proves an answer good: a path, a condition (an object with path and perhaps equals or is, or with unless alone) or a list of one or more conditions";

/** A place in the valid registry, the value to put there (undefined: none), and the expected messages. */
export const faults: [at: string, value: unknown, ...lines: string[]][] = [
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
