import { join } from "node:path";
import t, { type Test } from "tap";
import { loadRegistry, parseRegistry } from "../../../shared/registry/load-registry.js";
import { duration, faults, id, knownOfVenue, text } from "../../support/registry-faults.js";

/** The smallest registry that has everything; each call returns a new one to break. */
function good() {
  const rest = [
    {
      ...{ name: "block", label: "Latest block", method: "POST", url: "http://127.0.0.1:8080/rpc" },
      ...{ body: { method: "eth_blockNumber" }, expectStatus: 200, cadenceMs: 5000, timeoutMs: 4500 },
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
      blocked: { path: "$.error.code", equals: 403 },
      limited: { path: "$.error.code", equals: [-32005, 15] },
      halted: { path: "$.state", equals: "maintenance" },
      alternatives: ["http://127.0.0.1:8082/rpc"],
    },
  ];
  const stream = {
    ...{ name: "trades", label: "Trades", cadenceMs: 10000, typicalPerMinute: 60, rateBasis: "probed" },
    subscribe: { event: "subscribe", channel: "trades" },
    acknowledge: [{ path: "$.result", equals: [true, "true"] }],
    match: { path: "$[0]", equals: "{chanId:trades}" },
    ignore: { path: "$[1]", equals: "hb" },
    eventTime: { path: "$[2][1]", unit: "ms" },
    staleAfterMs: 30000,
    counterpart: "block",
    stall: {
      afterMs: 10000,
      distribution: { periods: 100, from: "2026-10-01", to: "2026-10-31", p50Ms: 1, p99Ms: 2.5, p999Ms: 9 },
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
    blocked: [{ path: "$.code", equals: 10029 }],
    limited: [{ path: "$.code", equals: 10028 }],
    halted: [
      [
        { path: "$.channel", equals: "status" },
        { path: "$.state", equals: "closed" },
      ],
    ],
    alternatives: ["ws://localhost:8083/ws"],
    streams: [stream],
  };
  const api = "https://status.example.com/api/v2/incidents.json";
  const official = { kind: "statuspage", page: null, api, about: ["Futures"] };
  const trade = { category: "bridge", symbol: null, quote: null, chain: "ethereum" };
  const source = "its documentation, 2026-11-01";
  const itself = {
    blocked: { path: "$", includes: "your country" },
    ...{ limited: { path: "$", includes: "too many requests" }, sources: ["https://docs.example.com/changelog"] },
    ...{ checkedAt: "2026-11-28", blockedIn: { countries: ["US"], source }, edgeCacheMs: 2000 },
    until: { date: "2027-03-01", what: "The API ends", source, components: ["rest:block", "ws:conn"] },
    endedAt: { date: "2027-06-01", what: "The bridge closes", source },
    ccxt: { id: "okx", differs: [{ host: "ws.example.com", why: source }] },
    limits: [
      { origin: "http://127.0.0.1:8080", requests: 60, periodMs: 1000, per: "address", endpoints: ["block"], source },
    ],
  };
  const okx = { id: "okx", name: "OKX", ...trade, rest, socket, official, ...itself };
  const gate = { ...structuredClone(okx), id: "gate", name: "Gate" };
  return {
    probeIntervalMs: 5000,
    regions: [
      { id: "eu-central", name: "Central Europe" },
      { id: "us-east", name: "US East" },
    ],
    chains: { ethereum: { name: "Ethereum", blockMs: 12000, source: "the protocol" } },
    venues: [okx, gate],
  };
}

void t.test("a valid registry is accepted unchanged", (t) => {
  t.strictSame(parseRegistry(good(), "it"), good());
  t.end();
});

for (const [at, value, ...lines] of faults)
  void t.test(`${at} = ${JSON.stringify(value)?.slice(0, 40)}`, (t) => {
    t.strictSame(problemsOf(changed(good(), at, value)), lines);
    t.end();
  });

const tooLate =
  "expected at most 4500, nine tenths of its cadenceMs (a measurement must end before the next begins), found 6000";

const together: [name: string, changes: Record<string, unknown>, lines: string[]][] = [
  [
    "an RPC provider trades nothing",
    { "venues.0.category": "rpc", "venues.0.symbol": "ETH", "venues.0.quote": "USD" },
    [
      'venues[0] (okx).symbol: expected null with category rpc, found "ETH"',
      'venues[0] (okx).quote: expected null with category rpc, found "USD"',
    ],
  ],
  [
    "a venue with nothing to measure is refused",
    { "venues.0.rest": [], "venues.0.socket": null, "venues.0.until.components": ["rest:block"] },
    [
      'venues[0] (okx).limits[0].endpoints[0]: expected none, as the venue has no endpoint, found "block"',
      'venues[0] (okx).until.components[0]: expected none, as the venue has no component, found "rest:block"',
      "venues[0] (okx).rest: expected an endpoint, as the venue has no socket, found []",
    ],
  ],
  [
    "two venues have no former id in common",
    { "venues.0.formerIds": ["older"], "venues.1.formerIds": ["older"] },
    ['venues[1] (gate).formerIds[0]: expected an id that is in formerIds only once, found "older"'],
  ],
  [
    "all problems are reported at once, those of shape and of sense",
    {
      probeIntervalMs: 0,
      "venues.0.rest.0.cadenceMs": undefined,
      "venues.0.colour": "red",
      "venues.1.rest.0.timeoutMs": 6000,
      "venues.1.id": "okx",
    },
    [
      `probeIntervalMs: expected ${duration}, found 0`,
      `venues[0] (okx).colour: expected no such property (known here: ${knownOfVenue}), found "red"`,
      `venues[0] (okx).rest[0].cadenceMs: expected ${duration}, found nothing`,
      'venues[1] (okx).id: expected another id than that of venues[0], found "okx"',
      `venues[1] (okx).rest[0].timeoutMs: ${tooLate}`,
    ],
  ],
  [
    "an error in one part hides none in another",
    {
      "venues.0.rest.1": { ...good().venues[0]!.rest[0]!, name: "other", timeoutMs: 6000 },
      "venues.0.chain": undefined,
      "venues.0.rest.0.label": undefined,
      "venues.0.category": "exchange",
      "venues.0.socket.streams.0.eventTime.path": "$[",
      "venues.0.official.api": null,
    },
    [
      `venues[0] (okx).chain: expected a text of 1 to 100 characters without control characters, or null, found nothing`,
      `venues[0] (okx).rest[0].label: expected ${text}, found nothing`,
      "venues[0] (okx).symbol: expected a text, as an exchange trades, found null",
      "venues[0] (okx).quote: expected a text, as an exchange trades, found null",
      `venues[0] (okx).rest[1].timeoutMs: ${tooLate}`,
      `venues[0] (okx).socket.streams[0].eventTime.path: expected a path (expected .key, [n] or ['any key'] at character 2 of "$[", found "["), found "$["`,
      "venues[0] (okx).official.api: expected an address with kind statuspage, found null",
    ],
  ],
];

for (const [name, changes, lines] of together)
  void t.test(name, (t) => {
    const value = good();
    for (const [at, one] of Object.entries(changes)) changed(value, at, one);
    t.strictSame(problemsOf(value), lines);
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
  const places = problemsOf(value).map((line) => line.split(":")[0]!.replace("venues[0] (okx).", ""));
  t.strictSame(places.sort(), [
    ...["official.api", "official.page", "rest[0].colour", "rest[0].label", "rest[0].proof", "rest[0].timeoutMs"],
    ...["socket.keepAlive.replyWithinMs", "socket.streams[0].counterpart", "socket.streams[0].label"],
    ...["socket.streams[0].stall.distribution.p99Ms", "socket.url"],
  ]);
  t.end();
});

void t.test("all of 127.0.0.0/8 counts as this machine", (t) => {
  const at = (place: string, host: string) => problemsOf(changed(good(), place, host)).length;
  t.equal(at("venues.0.rest.0.url", "http://127.77.0.1:8080/x"), 0);
  t.equal(at("venues.0.socket.url", "ws://127.255.255.254/x"), 0);
  for (const host of ["127.0.0.1.example.com", "128.0.0.1", "127.0.0.256", "127.0.0.1@example.com"])
    t.equal(at("venues.0.rest.0.url", `http://${host}/`), 1, host);
  t.end();
});

void t.test("a file with another value, or with very many problems, is refused", (t) => {
  const expected =
    "expected a registry: an object with probeIntervalMs, regions, venues and perhaps chains, assets and networks";
  for (const value of [null, 7, "registry", [], true])
    t.strictSame(problemsOf(value), [`the whole file: ${expected}, found ${JSON.stringify(value)}`]);
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
  for (const [path, reason] of [
    [join(folder, "missing.json"), "there is no such file"],
    [folder, "it is not a file"],
    // it may never end
    ["/dev/zero", "it is not a file"],
    [join(folder, "latin1.json"), "it is not UTF-8"],
    [join(folder, "huge.json"), "expected at most 4194304 bytes, got 4194305"],
  ] as const)
    await t.rejects(loadRegistry(path), { message: `The registry ${path} cannot be read: ${reason}` });
});

void t.test("names and passwords in addresses are not shown", (t) => {
  for (const url of [
    "https://user:hunter2@example.com/",
    "https://user:hunter2/@/hunter2@example.com/",
    "wss://hunter2@example.com",
  ]) {
    const [problem] = problemsOf(changed(good(), "venues.0.rest.0.url", url));
    t.notMatch(problem, "hunter2");
    t.match(problem, "://***@example.com");
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
    for (const value of [
      changed(good(), "venues.0.rest.0.url", url),
      changed(good(), "venues.0.id", url),
      { ...good(), [url]: url },
      { ...good(), regions: [{ [url]: 1 }] },
    ])
      t.notMatch(problemsOf(value).join(), "hunter2", url);
  }
  const listed = changed(good(), "venues.0.rest.0.name", ["btcusdt@trade"]);
  t.match(problemsOf(listed), [/found \["btcusdt@trade"\]/], "it is no address");
  t.end();
});

void t.test("a property that appears twice in an object", async (t) => {
  const value = changed(good(), "venues.0.rest.0.timeoutMs", 6000);
  const path = written(t, JSON.stringify(value).replace("{", '{"venues": 1,\n'));
  const refused = await loadRegistry(path).catch((error: Error) => error);
  t.match((refused as Error).message.split("\n"), [
    `The registry ${path} is wrong:`,
    /^line 2, column \d+: expected another property name, as the object already has this one, found "venues":/,
    /^venues\[0\] \(okx\).rest\[0\].timeoutMs: expected at most 4500, /,
  ]);
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
    '__proto__: expected no such property (known here: probeIntervalMs, regions, chains, assets, networks, venues), found {"venues":[]}',
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
