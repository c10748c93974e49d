/** What may be wrong in a registry, each time one value in the smallest valid one, and the messages. */

export const duration = "a whole number of milliseconds from 100 to 86400000 (a day)";
export const text = "a text of 1 to 100 characters without control characters";
export const id = "an id of small letters and digits, in words joined by -, 40 characters at most";
const webUrl = "an https:// address without a user name or fragment (http:// on this machine only)";
const socketUrl = "a wss:// address without a user name or fragment (ws:// on this machine only)";
const path = "a path such as $, $.a.b[0] or $['any key'], 200 characters at most";
const proof =
  "what proves an answer good: a path, a condition (an object with path and perhaps equals, includes or is, or with unless alone) or a list of one or more conditions";

const date = "a date such as 2026-10-31";
const source = "a text of 1 to 300 characters without control characters";
const anyOf =
  "what an answer or frame says: a condition, a list of conditions that must all hold, or a list of such lists";
const anyOfItem =
  "a condition: an object with path and perhaps equals, includes or is, or with unless alone; or a list of one or more conditions";

/** The fields of a venue, in the order of the schema. */
export const knownOfVenue = [
  ...[
    "id",
    "formerIds",
    "name",
    "category",
    "symbol",
    "quote",
    "chain",
    "rest",
    "socket",
    "official",
    "transfers",
    "blocked",
    "limited",
  ],
  ...["sources", "checkedAt", "until", "endedAt", "limits", "blockedIn", "edgeCacheMs", "ccxt"],
].join(", ");

const noPath = (path: string, character: number) =>
  `a path (expected .key, [n] or ['any key'] at character ${character} of "${path}", found "${path[character - 1]}")`;

/**
 * A place in the valid registry, the value to put there (undefined: none), and what the messages say is expected: of
 * that value, or, in a whole message, of another one. What begins with a dot is about the first venue.
 */
const rows: [at: string, value: unknown, ...expected: string[]][] = [
  // shape
  ["probeIntervalMs", undefined, duration],
  ["probeIntervalMs", "5000", duration],
  ["regions", [], "a list of one or more regions"],
  ["regions.0", "eu", "a region: an object with id, name and perhaps hosts"],
  ["regions.1.id", "US East", id],
  ["regions.1.note", "x", "no such property (known here: id, name, hosts)"],
  ["venues", {}, "a list of one or more venues"],
  ["venues.1.category", "casino", "one of exchange, rpc, market-data, oracle, stablecoin, bridge, ramp"],
  [".id", 7, id],
  [".name", "", text],
  [".name", "O\nX", `.name: expected ${text}, found "O\\nX"`],
  [".rest.0.name", "block1", "a name of small letters only, 40 at most"],
  [".rest.0.url", "http://example.com/", webUrl],
  [
    ".rest.0.url",
    "https://user:word@example.com/",
    `.rest[0].url: expected ${webUrl}, found "https://***@example.com/"`,
  ],
  [".rest.0.url", "http://127.0.0.1.example.com/", webUrl],
  [".rest.0.cadenceMs", 2.5, duration],
  [".rest.0.method", "PUT", "GET or POST"],
  [".rest.0.proof", "result", proof],
  [".rest.0.proof", [], proof],
  [".rest.0.proof", { path: "$.list", is: "array" }, '.rest[0].proof.is: expected the word list, found "array"'],
  [".rest.0.proof.0.equals", null, "a text, a number, true or false, or a list of one or more of them"],
  [".rest.0.proof.0.equals", [], "a text, a number, true or false, or a list of one or more of them"],
  [".rest.0.newest.unit", "days", "one of ns, us, ms, s, iso, id"],
  [".rest.0.dataTime.unit", "id", "one of ns, us, ms, s, iso"],
  [".rest.0.dataTime.staleAfterMs", undefined, "a whole number of milliseconds from 100 to 172800000 (two days)"],
  [
    "chains.ethereum",
    12000,
    "a chain: an object with blockMs, the usual time between two heads, source, where that is said, and perhaps name, for readers",
  ],
  ["chains.ethereum.name", "", text],
  ["chains.ethereum.source", "", "a text of 1 to 300 characters without control characters"],
  [".socket.welcome", [], "what holds of a frame: a list of one or more conditions"],
  [".rest.0.head.encoding", undefined, "hex or integer"],
  [".socket.url", "ws://example.com", socketUrl],
  [".socket.streams", [], "a list of one or more streams"],
  [
    ".socket.streams.0.name",
    "conn",
    "a name of small letters only, 40 at most, not conn (ws:conn is the socket itself)",
  ],
  [
    ".socket.keepAlive.send",
    {},
    ".socket.keepAlive.send.kind: expected one of none, ping, text, json, once, found nothing",
  ],
  [".socket.keepAlive.send.kind", "smoke", "one of none, ping, text, json, once"],
  [
    ".socket.keepAlive.send",
    { kind: "text", text: "ping", message: 1 },
    `.socket.keepAlive.send.everyMs: expected ${duration}, found nothing`,
    ".socket.keepAlive.send.message: expected no such property (known here: kind, everyMs, text), found 1",
  ],
  [".socket.streams.0.match.equals", { any: "of these" }, "a text, a number, true or false"],
  [
    ".socket.streams.0.match",
    [],
    "a condition on a frame, an object with path and perhaps equals, or a list of one or more of them",
  ],
  [
    ".socket.streams.0.match",
    [{ equals: "trades" }],
    `.socket.streams[0].match[0].path: expected ${path}, found nothing`,
  ],
  [".socket.streams.0.typicalPerMinute", 0, "a number of frames a minute above 0"],
  [".socket.streams.0.stall.distribution.to", "2026-13-01", "a date such as 2026-10-31"],
  [
    ".official.kind",
    undefined,
    "one of statuspage, binance-system-status, okx-system-status, bybit-system-status, kucoin-service-status, betterstack, instatus, bitget-announcements, gate-announcements, html",
  ],
  [
    ".what/is~this",
    { long: "x".repeat(100) },
    `venues[0] (okx)["what/is~this"]: expected no such property (known here: ${knownOfVenue}), found {"long":"${"x".repeat(50)}…`,
  ],
  // what an entry says of itself
  [".sources", [], "a list of one or more addresses of the venue's documentation and changelog"],
  [".sources", ["ftp://docs.example.com"], `.sources[0]: expected ${webUrl}, found "ftp://docs.example.com"`],
  [".checkedAt", "soon", date],
  [".checkedAt", "2026-02-30", "a day of the calendar"],
  [".checkedAt", "2026-11-28"],
  [".until", "2027-03-01", "what ends on a day: an object with date, what, source and perhaps components"],
  [".until", { date: "2027-03-01", what: "The API ends", source: "" }, `.until.source: expected ${source}, found ""`],
  [".until.date", "2027-02-29", "a day of the calendar"],
  [".until.date", undefined, date],
  [".until.what", "", source],
  [".until.components", [], "a list of one or more ids of components"],
  [".until.components.0", "block", "the id of a component, such as rest:ticker"],
  [".until.components.0", "ws:orders", "rest:block or ws:conn or ws:trades"],
  [".endedAt", "2026-09-23", "the end of the venue itself: an object with date, what and source"],
  [".endedAt.date", "2026-06-31", "a day of the calendar"],
  [".endedAt.date", undefined, date],
  [".endedAt.what", "", source],
  [".endedAt.source", undefined, source],
  [".endedAt.components", ["rest:block"], "no such property (known here: date, what, source)"],
  [".limits", [], "a list of one or more limits of the venue's origins"],
  [".limits.0", 10, "a limit: an object with origin, requests, periodMs, per, source and perhaps endpoints"],
  [
    ".limits.0.origin",
    "https://api.example.com/v1",
    `.limits[0].origin: expected an origin such as https://api.example.com, found "https://api.example.com/…"`,
  ],
  [".limits.0.origin", "https://api.example.com:70000", "an address with a valid host and port"],
  [".limits.0.requests", 0, "a number of requests, 1 or more"],
  [".limits.0.requests", 1.5, "a number of requests, 1 or more"],
  [".limits.0.periodMs", 10, "a whole number of milliseconds from 100 to 31536000000 (a year)"],
  [".limits.0.per", "key", "address or account"],
  [".limits.0.per", undefined, "address or account"],
  [".limits.0.source", undefined, source],
  [".limits.0.endpoints", [], "a list of one or more names of endpoints"],
  [".limits.0.endpoints", ["ticker"], '.limits[0].endpoints[0]: expected block, found "ticker"'],
  [".limits.0.weight", 2, "no such property (known here: origin, requests, periodMs, per, endpoints, source)"],
  [".blockedIn", ["US"], "countries that the venue does not serve: an object with countries and source"],
  [".blockedIn.countries", [], "a list of one or more country codes of two letters"],
  [".blockedIn.countries.0", "usa", "a country code of two letters, such as US"],
  [".blockedIn.source", undefined, source],
  [".edgeCacheMs", 2.5, duration],
  [".ccxt", "okx", "the same venue in ccxt: an object with id and perhaps differs"],
  [
    ".ccxt",
    { id: "Okx" },
    '.ccxt.id: expected the id of an exchange of ccxt, of small letters and digits, found "Okx"',
  ],
  [".ccxt.differs", [], "a list of one or more hosts that ccxt does not have, objects with host and why"],
  [".ccxt.differs.0", "ws.example.com", "a host that ccxt does not have: an object with host and why"],
  [".ccxt.differs.0.host", "https://ws.example.com", "a host name, perhaps with a port"],
  [".ccxt.differs.0.why", undefined, source],
  [".blocked", "not here", anyOf],
  [".blocked", { equals: 1 }, "a condition with path or unless"],
  [".rest.0.blocked", { equals: 1 }, "a condition with path or unless"],
  [".socket.blocked", { is: "list" }, "a condition with path or unless"],
  [".limited", "slow down", anyOf],
  [".limited", [], anyOf],
  [".limited", [[]], `.limited[0]: expected ${anyOfItem}, found []`],
  [".limited", { equals: 1 }, "a condition with path or unless"],
  [
    ".limited",
    [[{ path: "$.a" }, { path: "$.a." }]],
    `.limited[0][1].path: expected ${noPath("$.a.", 4)}, found "$.a."`,
  ],
  [".rest.0.limited", { path: "$.a", includes: "" }, `.rest[0].limited.includes: expected ${text}, found ""`],
  [
    ".rest.0.limited",
    { path: "$.a", includes: "too many", equals: 1 },
    '.rest[0].limited.includes: expected none with equals or is, and none without path, as a condition tests one thing, found "too many"',
  ],
  [".rest.0.halted", [7], `.rest[0].halted[0]: expected ${anyOfItem}, found 7`],
  [".rest.0.halted.path", "$.b.", noPath("$.b.", 4)],
  [".rest.0.alternatives", [], "a list of one or more other addresses that give the same answer"],
  [
    ".rest.0.alternatives",
    ["http://example.com/"],
    `.rest[0].alternatives[0]: expected ${webUrl}, found "http://example.com/"`,
  ],
  [".rest.0.alternatives.0", "https://example.com:70000/", "an address with a valid host and port"],
  [".socket.limited", { is: "list" }, "a condition with path or unless"],
  [".socket.halted", 1, anyOf],
  [".socket.alternatives.0", "https://example.com/", socketUrl],
  [
    "regions.1.hosts",
    [],
    "other hosts for this region: an object of host names by host name, each perhaps with a port",
  ],
  [
    "regions.1.hosts",
    { "api.example.com": "https://x.example" },
    `regions[1] (us-east).hosts["api.example.com"]: expected a host name, perhaps with a port, found "https://x.example"`,
  ],
  [
    "regions.1.hosts",
    { "api.example.com": "x.example:70000" },
    `regions[1] (us-east).hosts["api.example.com"]: expected a host name, perhaps with a port, found "x.example:70000"`,
  ],
  [
    "regions.1.hosts",
    { "a host": "x.example" },
    `regions[1] (us-east).hosts: expected a host name, perhaps with a port, found {"a host":"x.example"}`,
  ],
  // rules
  [".rest.0.proof.0", { equals: 1 }, "a condition with path or unless"],
  [
    ".rest.0.proof",
    { path: "$.a", unless: "$.b" },
    '.rest[0].proof.unless: expected none with path, as a condition tests one thing, found "$.b"',
  ],
  [
    ".rest.0.proof",
    { path: "$.a", is: "list", equals: 1 },
    '.rest[0].proof.is: expected none with equals or unless, as a condition tests one thing, found "list"',
  ],
  [
    ".rest.0.proof",
    { unless: "$.a", equals: 1 },
    ".rest[0].proof.equals: expected none with unless, as a condition tests one thing, found 1",
  ],
  [".rest.0.proof", { unless: "$.a." }, `.rest[0].proof.unless: expected ${noPath("$.a.", 4)}, found "$.a."`],
  [".rest.0.newest.path", "$.a.", noPath("$.a.", 4)],
  [".rest.0.newest.list", "$.a.", noPath("$.a.", 4)],
  [
    ".rest.0.newest.unit",
    "id",
    '.rest[0].newest.list: expected none with unit id, as ids have no maximum, found "$.blocks"',
  ],
  [".rest.0.dataTime.path", "$.a.", noPath("$.a.", 4)],
  [".socket.welcome.0", { equals: "welcome" }, "a condition with path or unless"],
  [
    ".socket.streams.0.acknowledge.0.equals",
    "{chanId:trades}",
    '.socket.streams[0].acknowledge[0].equals: expected no placeholder, as those are allowed in match and ignore only, found "{chanId:trades}"',
  ],
  [".socket.streams.0.counterpart", "trades", "block"],
  [
    ".rest.0.newest",
    undefined,
    '.socket.streams[0].counterpart: expected none, as no REST endpoint of this venue has newest, found "block"',
  ],
  [
    ".socket.streams.0.eventTime",
    undefined,
    ".socket.streams[0].staleAfterMs: expected none without eventTime, as an event without a time has no age, found 30000",
  ],
  ["regions.1.id", "eu-central", "another id than that of regions[0]"],
  ["venues.1.id", "okx", "another id than that of venues[0]"],
  [
    ".category",
    "exchange",
    ".symbol: expected a text, as an exchange trades, found null",
    ".quote: expected a text, as an exchange trades, found null",
  ],
  [".symbol", "ETH", ".quote: expected a text, as symbol, found null"],
  [".quote", "USD", ".symbol: expected a text, as quote, found null"],
  [
    ".rest.0.timeoutMs",
    5001,
    "at most 4500, nine tenths of its cadenceMs (a measurement must end before the next begins)",
  ],
  [".rest.0.method", "GET", '.rest[0].body: expected none with GET, found {"method":"eth_blockNumber"}'],
  [".rest.0.proof", "$.result..x", noPath("$.result..x", 9)],
  [".rest.0.head.path", "$.[0]", noPath("$.[0]", 2)],
  [
    ".chain",
    null,
    '.rest[0].head: expected none, as the venue has no chain, found {"path":"$.result","encoding":"hex"}',
  ],
  [".rest.0.url", "https://example.com:70000/", "an address with a valid host and port"],
  [".socket.keepAlive.replyWithinMs", 20001, "at most 20000, its send.everyMs"],
  [
    ".socket.keepAlive.send",
    { kind: "none" },
    ".socket.keepAlive.replyWithinMs: expected null with send.kind none, found 10000",
  ],
  [".socket.keepAlive.respond.when.path", "$x", noPath("$x", 2)],
  [
    ".socket.keepAlive.respond.message",
    { pong: "{frame:$.ping..id}" },
    `.socket.keepAlive.respond.message.pong: expected ${noPath("$.ping..id", 7)}, found "…"`,
  ],
  [
    ".socket.keepAlive.respond.message",
    ["pong", "{frame:ping}"],
    '.socket.keepAlive.respond.message[1]: expected a path (expected $ at character 1 of "ping", found "p"), found "…"',
  ],
  [".socket.keepAlive.respond.message", { pong: "{frame:$.ping.id}", at: "{unixSeconds}" }],
  [
    ".socket.keepAlive.respond.message",
    { pong: "pong {frame:$.ping}" },
    '.socket.keepAlive.respond.message.pong: expected {frame:$.path}, as a whole text, in keepAlive.respond.message only, found "…"',
  ],
  [
    ".socket.keepAlive.send",
    { kind: "json", everyMs: 20000, message: { id: "{ frame: $.id }" } },
    '.socket.keepAlive.send.message.id: expected {frame:$.path}, as a whole text, in keepAlive.respond.message only, found "…"',
  ],
  [".socket.compression", "brotli", "one of gzip, deflate, deflate-raw"],
  [".socket.compression", "deflate-raw"],
  [
    ".socket.streams.0.match.equals",
    "{chanId:ticker}",
    '.socket.streams[0].match.equals: expected {chanId:trades}, found "{chanId:ticker}"',
  ],
  [
    ".socket.streams.0.match",
    [{ path: "$.data" }, { path: "$[0]", equals: "{chanId:ticker}" }],
    '.socket.streams[0].match[1].equals: expected {chanId:trades}, found "{chanId:ticker}"',
  ],
  [
    ".socket.streams.0.subscribe",
    null,
    '.socket.streams[0].match.equals: expected no placeholder, as no stream has a channel, found "{chanId:trades}"',
  ],
  [".socket.streams.0.eventTime.path", "$[", noPath("$[", 2)],
  [
    ".socket.streams.0.stall",
    { afterMs: 999, distribution: null },
    ".socket.streams[0].stall.afterMs: expected at least 1000, the mean interval at typicalPerMinute 60, found 999",
  ],
  [
    ".socket.streams.0.stall.distribution.p999Ms",
    10001,
    ".socket.streams[0].stall.afterMs: expected at least 10001, the p999Ms that it was derived from, found 10000",
  ],
  [
    ".socket.streams.0.stall.distribution.p50Ms",
    3,
    ".socket.streams[0].stall.distribution.p99Ms: expected at least 3, its p50Ms, found 2.5",
  ],
  [
    ".socket.streams.0.stall.distribution.p99Ms",
    10,
    ".socket.streams[0].stall.distribution.p999Ms: expected at least 10, its p99Ms, found 9",
  ],
  [".socket.streams.0.stall.distribution.to", "2026-09-30", "a date not before from, 2026-10-01"],
  [".official.api", null, "an address with kind statuspage"],
  [".official.api", "wss://status.example.com/", "an https:// address with kind statuspage"],
  [
    ".transfers",
    { kind: "gate-currencies" },
    ".transfers.api: expected an address with kind gate-currencies, found nothing",
  ],
  [
    ".transfers",
    { kind: null, api: "https://a.example/" },
    '.transfers.api: expected none with kind null, found "https://a.example/"',
    ".transfers.because: expected a sentence that says why nobody can read it, found nothing",
  ],
  [
    ".transfers",
    { kind: "kraken-assets", api: "https://a.example/", because: "x" },
    '.transfers.because: expected none with kind kraken-assets, found "x"',
  ],
  [
    "networks",
    { tron: { name: "Tron", names: ["TRX"] }, other: { name: "Other", venues: { okx: ["x"] }, names: ["trx"] } },
    'networks.other.names: expected a name that is not of tron, too, found ["trx"]',
  ],
  ["assets", { btc: { name: "Bitcoin" } }, "a symbol of 1 to 12 capital letters and digits"],
  [
    ".official.api",
    "ftp://status.example.com/",
    "an https:// or wss:// address without a user name or fragment (http:// or ws:// on this machine only), or null",
  ],
  [
    ".official.kind",
    "gate-announcements",
    '.official.api: expected a wss:// address with kind gate-announcements, found "https://status.example.com/…"',
  ],
  [".formerIds", ["gate"], '.formerIds[0]: expected an id other than that of venues[1], found "gate"'],
  [".formerIds", ["okx"], `.formerIds[0]: expected an id other than the venue's own, found "okx"`],
  [".formerIds", ["a", "a"], '.formerIds[1]: expected an id that is in formerIds only once, found "a"'],
  [".formerIds", [], "a list of one or more ids that the venue had before"],
  [".formerIds", ["OKEx"], `.formerIds[0]: expected ${id}, found "OKEx"`],
  [".formerIds", ["okex"]],
  // a measured threshold may contradict the usual rate
  [".socket.streams.0.stall.afterMs", 999],
  [
    ".official.kind",
    "html",
    ".official.page: expected an address with kind html, found null",
    '.official.api: expected null with kind html, found "https://status.example.com/…"',
  ],
];

const ids: Record<string, string> = { "venues.0": "okx", "venues.1": "gate", "regions.1": "us-east" };

/** The same with whole places and messages. */
export const faults = rows.map(([place, value, ...expected]): [at: string, value: unknown, ...lines: string[]] => {
  const at = place.replace(/^\./, "venues.0.");
  const lines = expected.map((words) => {
    if (words.startsWith(".")) return `venues[0] (okx)${words}`;
    if (words.includes(": expected ")) return words;
    return `${placeOf(at, value)}: expected ${words}, found ${JSON.stringify(value) ?? "nothing"}`;
  });
  return [at, value, ...lines];
});

/** Returns the place as messages name it, with the id of its venue or region. */
function placeOf(at: string, value: unknown): string {
  const indexed = (path: string) => path.replace(/\.(\d+)/g, "[$1]");
  const [, element = "", rest = ""] = /^(\w+\.\d)(\..+)$/.exec(at) ?? [];
  if (element === "") return indexed(at);
  const id = rest === ".id" ? value : ids[element];
  return `${indexed(element)}${typeof id === "string" ? ` (${id})` : ""}${indexed(rest)}`;
}
