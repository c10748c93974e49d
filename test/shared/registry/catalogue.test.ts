/** Registries that name venues of the catalogue. */
import { readFileSync } from "node:fs";
import t from "tap";
import { packagedFile } from "../../../shared/config/package.js";
import { catalogueEntry, catalogueIds } from "../../../shared/registry/catalogue.js";
import { loadRegistry, parseRegistry } from "../../../shared/registry/load-registry.js";
import type { Venue } from "../../../shared/registry/registry.js";
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
