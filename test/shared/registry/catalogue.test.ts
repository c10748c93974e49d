/** Registries that name venues of the catalogue. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { packagedFile } from "../../../shared/config/package.js";
import { catalogueEntry, catalogueIds } from "../../../shared/registry/catalogue.js";
import { ageSentences, agesOf } from "../../../shared/registry/entry-age.js";
import { loadRegistry, parseRegistry } from "../../../shared/registry/load-registry.js";
import type { Registry, Venue } from "../../../shared/registry/registry.js";
import { comparedWithCcxt, hostsInWheel } from "../../support/ccxt-hosts.js";
import { pythonMissing } from "../../support/python.js";
import { simplestEndpoint, simplestVenue } from "../../support/simplest-venue.js";

const regions = [{ id: "home", name: "Home" }];

const catalogueChains = JSON.parse(readFileSync(packagedFile("registry/chains.json"), "utf8")) as object;

const okx = catalogueEntry("okx") as Venue;

/** The resolved venues of a registry that lists these. */
function venuesOf(...listed: unknown[]): Venue[] {
  return parseRegistry({ probeIntervalMs: 5000, regions, venues: listed }, "mine").venues;
}

function problemsOf(...listed: unknown[]): string[] {
  try {
    venuesOf(...listed);
    return [];
  } catch (error) {
    return (error as Error).message.split("\n").slice(1);
  }
}

void t.test("every file of the catalogue is a valid entry with the id of its name", (t) => {
  const venues = venuesOf(...catalogueIds());
  t.strictSame(
    venues.map(({ id }) => id),
    catalogueIds(),
  );
  t.equal(catalogueEntry("no-such-venue"), null);
  t.notMatch(JSON.stringify(venues), /localhost|127\.0\.0\.1|file:|"\.{0,2}\/[a-z]/i, "it holds no local addresses");
  t.end();
});

void t.test("the lists name venues of the catalogue, and the wide one has all", async (t) => {
  const wide = await loadRegistry(packagedFile("registry/all.json"));
  t.strictSame(wide.venues.map(({ id }) => id).sort(), catalogueIds().sort());
  const board = await loadRegistry(packagedFile("registry/default.json"));
  for (const { id } of board.venues) t.ok(catalogueIds().includes(id), id);
});

void t.test("an id stands for its entry", (t) => {
  const own = simplestVenue("mine");
  const [first, second, third] = venuesOf("okx", own, "bybit");
  t.match(first, okx);
  t.strictSame(second, own, "a whole entry beside it is unchanged");
  t.equal(third!.id, "bybit");
  t.end();
});

void t.test("a registry of whole entries is returned as it is", (t) => {
  const value = { probeIntervalMs: 5000, regions, venues: [simplestVenue("mine"), simplestVenue("okx")] };
  t.equal(parseRegistry(value, "mine"), value, "without chains of the catalogue, even with an id that is there");
  t.end();
});

void t.test("the chains of the catalogue come with its venues, and the file's own win", (t) => {
  const mine = { blockMs: 1000, source: "my node" };
  const chainsOf = (venues: unknown[], chains?: object) =>
    parseRegistry({ probeIntervalMs: 5000, regions, venues, ...(chains ? { chains } : {}) }, "mine").chains;
  t.strictSame(chainsOf(["okx"]), catalogueChains);
  t.strictSame(chainsOf(["okx"], { ethereum: mine, mychain: mine }), {
    ...catalogueChains,
    ethereum: mine,
    mychain: mine,
  });
  t.strictSame(chainsOf([simplestVenue("mine")], { mychain: mine }), { mychain: mine });
  t.equal(chainsOf([simplestVenue("mine")]), undefined);
  t.end();
});

void t.test("an override", async (t) => {
  const changed = (override: object) => venuesOf({ id: "okx", override })[0]!;

  await t.test("changes what it names, in parts by their names, and nothing else", (t) => {
    const venue = changed({
      name: "My OKX",
      rest: { ticker: { cadenceMs: 60_000 } },
      socket: { url: "wss://x.example/" },
    });
    const expected = structuredClone(okx);
    expected.name = "My OKX";
    expected.rest.find(({ name }) => name === "ticker")!.cadenceMs = 60_000;
    expected.socket!.url = "wss://x.example/";
    t.match(venue, expected);
    t.strictSame(idsOf(venue.rest), idsOf(okx.rest));
    t.equal(changed({}).name, okx.name, "an empty one changes nothing");
    t.end();
  });

  await t.test("removes with null, and sets null where an entry must have the field", (t) => {
    t.notOk("dataTime" in changed({ rest: { ticker: { dataTime: null } } }).rest.find((one) => one.name === "ticker")!);
    t.strictSame(idsOf(changed({ rest: { ticker: null } }).rest), idsOf(okx.rest).replace("ticker ", ""));
    t.equal(changed({ socket: null }).socket, null);
    t.equal(changed({ official: null }).official, null);
    const streams = changed({ socket: { streams: { trades: { stall: { afterMs: 99_000, distribution: null } } } } });
    t.strictSame(streams.socket!.streams.find(({ name }) => name === "trades")!.stall, {
      afterMs: 99_000,
      distribution: null,
    });
    t.end();
  });

  await t.test("also takes removed parts out of limits, ends and counterparts", (t) => {
    const limit = { origin: "https://openapi.okx.com", requests: 10, periodMs: 1000, per: "address", source: "here" };
    const removing = changed({
      rest: { trades: null, book: null },
      limits: [
        { ...limit, endpoints: ["trades", "ticker"] },
        { ...limit, endpoints: ["book"] },
      ],
      until: { date: "2027-03-01", what: "It ends", source: "here", components: ["rest:book", "ws:trades"] },
    });
    t.strictSame(removing.limits, [{ ...limit, endpoints: ["ticker"] }]);
    t.strictSame(removing.until!.components, ["ws:trades"]);
    t.ok(okx.socket!.streams.some(({ counterpart }) => counterpart === "trades"));
    t.notOk(removing.socket!.streams.some((stream) => "counterpart" in stream));
    const alone = changed({ rest: { book: null }, limits: [{ ...limit, endpoints: ["book"] }] });
    t.notOk("limits" in alone, "a limit of nothing would be one of everything");
    t.strictSame(
      problemsOf({ id: "okx", override: { rest: { book: null }, limits: [null, { ...limit, endpoints: "book" }] } })
        .length,
      2,
      "what is no limit is reported",
    );
    t.end();
  });

  await t.test("adds a part, after the others", (t) => {
    const { name, ...endpoint } = simplestEndpoint("extra");
    t.match(changed({ rest: { [name]: endpoint } }).rest.at(-1), simplestEndpoint("extra"));
    t.strictSame(problemsOf({ id: "okx", override: { rest: { extra: { ...endpoint, url: undefined } } } }).length, 1);
    t.end();
  });

  await t.test("replaces a list of other things, such as conditions, and a list of parts by a list", (t) => {
    const proof = { path: "$.other" };
    const twice = { rest: { time: { proof: [proof, { unless: "$.error" }] } } };
    t.strictSame(changed(twice).rest[0]!.proof, twice.rest.time.proof);
    const only = venuesOf({ id: "bybit", override: { rest: [simplestEndpoint("only")], socket: null } })[0]!.rest;
    t.match(only, [simplestEndpoint("only")]);
    t.equal(only.length, 1);
    // an object in the place of a list of conditions
    const withList = catalogueIds()
      .map((id) => catalogueEntry(id) as Venue)
      .flatMap(({ id, rest }) =>
        rest.filter(({ proof }) => Array.isArray(proof)).map(({ name }) => ({ id, name })),
      )[0]!;
    const [venue] = venuesOf({ id: withList.id, override: { rest: { [withList.name]: { proof } } } });
    t.strictSame(venue!.rest.find(({ name }) => name === withList.name)!.proof, proof);
    t.end();
  });

  await t.test("gives the same entry under another id", (t) => {
    const venues = venuesOf("okx", { id: "okx", override: { id: "okx-eth", symbol: "ETH-USDT" } });
    t.match(venues, [
      { id: "okx", symbol: okx.symbol },
      { id: "okx-eth", symbol: "ETH-USDT", name: "OKX" },
    ]);
    t.end();
  });
});

/** What is listed after a valid venue, and the problems that are reported. */
const wrong: [name: string, listed: unknown, ...problems: string[]][] = [
  [
    "an unknown id, with the one that is meant",
    "okxx",
    'venues[1]: expected the id of a venue of the catalogue, registry/venues, perhaps okx, found "okxx"',
  ],
  [
    "an unknown id like no other",
    "my-very-own-exchange",
    'venues[1]: expected the id of a venue of the catalogue, registry/venues, found "my-very-own-exchange"',
  ],
  [
    "an override of an unknown id",
    { id: "krakn", override: {} },
    'venues[1] (krakn).id: expected the id of a venue of the catalogue, registry/venues, perhaps kraken, found "krakn"',
  ],
  [
    "an override without an id",
    { override: {} },
    "venues[1].id: expected an id of small letters and digits, in words joined by -, 40 characters at most, found nothing",
  ],
  [
    "an override that is none",
    { id: "okx", override: [1] },
    "venues[1] (okx).override: expected changes of the entry, an object: null removes a field, and lists of named parts are objects by name, found [1]",
  ],
  [
    "changes beside an override",
    { id: "okx", name: "My OKX", override: {} },
    'venues[1] (okx).name: expected no such property (known here: id, override), found "My OKX"',
  ],
  [
    "a value that is wrong in an override",
    { id: "okx", override: { rest: { ticker: { cadenceMs: "5000" } } } },
    'venues[1] (okx).override.rest.ticker.cadenceMs: expected a whole number of milliseconds from 100 to 86400000 (a day), found "5000"',
  ],
  [
    "a value of the catalogue that does not fit to an override",
    { id: "okx", override: { rest: { book: { cadenceMs: 1000 } } } },
    "venues[1] (okx).override.rest.book.timeoutMs: expected at most 900, nine tenths of its cadenceMs (a measurement must end before the next begins), found 5000",
  ],
  [
    "a list in an override",
    {
      id: "okx",
      override: { socket: null, rest: [simplestEndpoint("one"), { ...simplestEndpoint("two"), method: "PUT" }] },
    },
    'venues[1] (okx).override.rest[1].method: expected GET or POST, found "PUT"',
  ],
  [
    "a removed field that an entry must have",
    { id: "okx", override: { name: null } },
    "venues[1] (okx).override.name: expected a text of 1 to 100 characters without control characters, found nothing",
  ],
  ["the same venue twice", "bybit", 'venues[1] (bybit).id: expected another id than that of venues[0], found "bybit"'],
  [
    "the same venue twice, with an override",
    { id: "bybit", override: {} },
    'venues[1] (bybit).override.id: expected another id than that of venues[0], found "bybit"',
  ],
  [
    "a key that would reach the prototypes",
    JSON.parse('{ "id": "okx", "override": { "__proto__": { "name": "x" } } }'),
    /* everything else is as in the catalogue */
    ...[
      `venues[1] (okx).override.__proto__: expected no such property (known here: ${knownFields()}), found {"name":"x"}`,
    ],
  ],
  [
    "a number",
    7,
    "venues[1]: expected a venue: an object with id, name, category, symbol, quote, chain, rest, socket and official, found 7",
  ],
];

for (const [name, listed, ...problems] of wrong)
  void t.test(`refused: ${name}`, (t) => {
    t.strictSame(problemsOf("bybit", listed), problems);
    t.end();
  });

void t.test("invalid chains are refused beside ids, too", (t) => {
  t.throws(() => parseRegistry({ probeIntervalMs: 5000, regions, chains: "ethereum", venues: ["okx"] }, "mine"), {
    message: /\nchains: expected the chains that venues read, .*, found "ethereum"$/,
  });
  t.end();
});

function knownFields(): string {
  const schema = JSON.parse(readFileSync(packagedFile("registry/schema.json"), "utf8")) as {
    definitions: { venue: { properties: object } };
  };
  return Object.keys(schema.definitions.venue.properties).join(", ");
}

function idsOf(parts: { name: string }[]): string {
  return parts.map(({ name }) => name).join(" ");
}

// The age of entries, and the dates on which they end.

const now = new Date("2026-11-28T12:00:00Z");

function ages(...venues: Venue[]) {
  const registry: Registry = { probeIntervalMs: 5000, regions: [{ id: "home", name: "Home" }], venues };
  return agesOf(registry, now);
}

function checked(id: string, checkedAt: string): Venue {
  return { ...simplestVenue(id), checkedAt };
}

function ending(id: string, date: string, components?: string[]): Venue {
  const until = { date, what: "The API ends", source: "its changelog", ...(components ? { components } : {}) };
  return { ...checked(id, "2026-11-28"), until };
}

void t.test("an entry is old after ninety days, the oldest first", (t) => {
  const found = ages(checked("old", "2026-08-29"), checked("new", "2026-08-30"), checked("older", "2025-11-28"));
  t.strictSame(found, {
    aged: [
      { venue: "older", checkedAt: "2025-11-28", days: 365 },
      { venue: "old", checkedAt: "2026-08-29", days: 91 },
    ],
    undated: [],
    ends: [],
  });
  t.strictSame(ageSentences(found), [
    "compared with their sources more than 90 days ago: older (2025-11-28), old (2026-08-29)",
  ]);
  t.strictSame(ages(checked("tomorrow", "2026-11-29")).aged, [], "a date of another time zone");
  t.end();
});

void t.test("an entry without a date is listed, unless all of it is on this machine", (t) => {
  const local = simplestVenue("local", simplestEndpoint("a", { url: "http://127.0.0.1:8080/" }));
  const half = simplestVenue("half", ...local.rest, simplestEndpoint("b"));
  const found = ages(simplestVenue("mine"), local, half);
  t.strictSame(found.undated, ["mine", "half"]);
  t.strictSame(ageSentences(found), ["without the date of a comparison with their sources: mine, half"]);
  t.equal(ages({ ...local, checkedAt: "2025-01-01" }).aged.length, 1, "a date that it says counts everywhere");
  t.end();
});

void t.test("entries that end within sixty days, or have ended, are listed, the earliest first", (t) => {
  const found = ages(
    ending("later", "2027-01-28"),
    ending("soon", "2027-01-27"),
    ending("tomorrow", "2026-11-29", ["rest:ping"]),
    ending("today", "2026-11-28"),
    ending("past", "2026-10-31"),
  );
  t.strictSame(
    found.ends.map(({ venue, daysLeft }) => [venue, daysLeft]),
    [
      ["past", -28],
      ["today", 0],
      ["tomorrow", 1],
      ["soon", 60],
    ],
  );
  t.strictSame(ageSentences(found), [
    "past ended on 2026-10-31: The API ends (its changelog)",
    "today ended on 2026-11-28: The API ends (its changelog)",
    "tomorrow rest:ping ends on 2026-11-29, in 1 day: The API ends (its changelog)",
    "soon ends on 2027-01-27, in 60 days: The API ends (its changelog)",
  ]);
  t.end();
});

void t.test("a venue that will end is listed ahead, and one that has ended is not complained of", (t) => {
  const ends = (id: string, date: string) => ({
    ...ending(id, "2026-10-31"),
    endedAt: { date, what: "It closes", source: "its announcement" },
  });
  const found = ages({ ...ends("gone", "2026-11-28"), checkedAt: "2025-01-01" }, ends("soon", "2026-11-29"));
  t.strictSame(found.aged, []);
  t.strictSame(ageSentences(found), [
    "soon ended on 2026-10-31: The API ends (its changelog)",
    "soon ends on 2026-11-29, in 1 day: It closes (its announcement)",
  ]);
  const undated = { ...simplestVenue("gone"), endedAt: { date: "2026-09-23", what: "It closed", source: "here" } };
  t.strictSame(ages(undated), { aged: [], undated: [], ends: [] });
  t.end();
});

// The nightly comparison of the catalogue with ccxt, on a few fixed hosts and without the network.

function venue(hosts: string[], ccxt: Venue["ccxt"]): Venue {
  const rest = hosts.map((host, at) => simplestEndpoint("abc"[at]!, { url: `https://${host}/` }));
  return { ...simplestVenue("mine", ...rest), ...(ccxt ? { ccxt } : {}) };
}

function compared(one: Venue, ...theirs: string[]) {
  return comparedWithCcxt([one], { version: "1.2.3", hosts: { exchange: theirs } });
}

const clean = { unexplained: [], explained: [], outdated: [] };

void t.test("hosts that ccxt has are right, with their ports", (t) => {
  const mine = venue(["api.example", "ws.example:8443"], { id: "exchange" });
  t.strictSame(compared(mine, "api.example", "ws.example:8443", "other.example"), clean);
  t.strictSame(compared(mine, "api.example", "ws.example").unexplained, [
    "mine: ws.example:8443; ccxt's exchange has api.example, ws.example",
  ]);
  t.end();
});

void t.test("OKX's closed port would have been found", (t) => {
  const former = structuredClone(okx);
  former.socket!.url = "wss://ws.okx.com:8443/ws/v5/public";
  const hosts = { okx: ["ws.okx.com", "www.okx.com"] };
  t.strictSame(comparedWithCcxt([okx], { version: "4.5.90", hosts }).unexplained, []);
  t.strictSame(comparedWithCcxt([former], { version: "4.5.90", hosts }).unexplained, [
    "okx: ws.okx.com:8443; ccxt's okx has ws.okx.com, www.okx.com",
  ]);
  t.end();
});

void t.test("a host that ccxt does not have needs a reason, for as long as that holds", (t) => {
  const differs = [{ host: "new.example", why: "its changelog, 2026-11-01" }];
  const mine = venue(["api.example", "new.example"], { id: "exchange", differs });
  t.strictSame(compared(mine, "api.example"), {
    ...clean,
    explained: ["mine: new.example: its changelog, 2026-11-01"],
  });
  t.strictSame(compared(mine, "api.example", "new.example").outdated, ["mine: ccxt has new.example, too"]);
  const moved = venue(["api.example"], { id: "exchange", differs });
  t.strictSame(compared(moved, "api.example").outdated, ["mine: new.example is not measured any more"]);
  t.end();
});

void t.test("an exchange that cannot be compared is named, and other venues are not compared", (t) => {
  t.match(compared(venue(["api.example"], undefined)).unexplained, [
    /^mine: its entry does not say what it is in ccxt$/,
  ]);
  t.match(compared(venue(["api.example"], { id: "gone" })).unexplained, [
    /^mine: ccxt has no exchange gone, or no host/,
  ]);
  t.strictSame(compared({ ...venue(["api.example"], undefined), category: "oracle" }), clean);
  t.end();
});

void t.test("every exchange of the catalogue says what it is in ccxt", (t) => {
  const exchanges = catalogueIds().map((id) => catalogueEntry(id) as Venue);
  for (const { id, category, ccxt } of exchanges) if (category === "exchange") t.ok(ccxt, id);
  t.end();
});

void t.test("the hosts of exchanges are read from a wheel", { skip: pythonMissing }, (t) => {
  const wheel = wheelOf(t.testdir({}), {
    "base/exchange.py": "class Exchange: pass",
    "one.py": `
class one(Exchange, ImplicitAPI):
    def describe(self) -> object:
        return self.deep_extend(super(one, self).describe(), {
            'hostname': 'one.example',
            'precision': TICK_SIZE,
            'urls': {
                'logo': 'https://logo.example/x.jpg',
                'api': {'rest': 'https://api.{hostname}', 'more': {'v1': 'https://v1.one.example:443/v1'}},
                'test': {'rest': 'https://test.one.example'},
                'doc': ['https://doc.one.example'],
            },
            'api': {'public': {'get': {'https://not.an.address': 1}}},
        })

    def other(self):
        return {'url': 'https://other.one.example'}
`,
    "pro/one.py": `
class one(ccxt.async_support.one):
    def describe(self):
        return self.deep_extend(super(one, self).describe(), {'urls': {'api': {'ws': 'wss://ws.one.example:8443/ws'}}})
`,
    "two.py": `
class two(one):
    def describe(self):
        return self.deep_extend(super(two, self).describe(), {'urls': {'api': {'rest': 'https://two.example'}}})
`,
  });
  t.strictSame(hostsInWheel(wheel, ["one", "two", "three"]), {
    version: "9.8.7",
    hosts: {
      one: ["api.one.example", "v1.one.example", "ws.one.example:8443"],
      two: ["api.one.example", "two.example", "v1.one.example", "ws.one.example:8443"],
      three: [],
    },
  });
  t.throws(
    () => hostsInWheel("/nowhere.whl", ["one"]),
    /python3 .*ccxt_hosts\.py \/nowhere\.whl one failed: .*No such file/s,
  );
  t.end();
});

/** @param sources below ccxt/, by their names */
function wheelOf(folder: string, sources: Record<string, string>): string {
  for (const [name, text] of Object.entries(sources)) {
    const path = join(folder, "ccxt", name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
  }
  const wheel = join(folder, "ccxt-9.8.7-py3-none-any.whl");
  const { status, stderr } = spawnSync("python3", ["-m", "zipfile", "-c", wheel, "ccxt"], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return wheel;
}
