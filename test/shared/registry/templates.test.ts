/** Entries from a template, and what is said of wrong ones: each message names a field of the operator's file. */
import t from "tap";
import { catalogueEntry } from "../../../shared/registry/catalogue.js";
import { parseEntry, parseRegistry } from "../../../shared/registry/load-registry.js";
import type { Venue } from "../../../shared/registry/registry.js";
import { duration } from "../../support/registry-faults.js";

const regions = [{ id: "home", name: "Home" }];

function venuesOf(...listed: unknown[]): Venue[] {
  return parseRegistry({ probeIntervalMs: 5000, regions, venues: listed }, "mine").venues;
}

function problemsIn(parse: () => unknown): string[] {
  try {
    parse();
    return [];
  } catch (error) {
    return (error as Error).message.split("\n").slice(1);
  }
}

/** A node without a socket, with changes. */
function node(more: object = {}) {
  return {
    ...{ id: "my-base", name: "Our node", template: "evm-node", socket: null },
    with: { chain: "base", chainId: "0x2105", url: "https://base.nodes.example" },
    ...more,
  };
}

const [contract, feed] = [`0x${"c0".repeat(20)}`, `0x${"fe".repeat(20)}`];

const coin = {
  ...{ id: "coin", name: "A coin", template: "stablecoin" },
  with: { symbol: "COIN", contract, feed },
};

void t.test("an entry gets the values in place of its template's, and other fields change the result", (t) => {
  const [venue] = venuesOf(node({ rest: { gas: null, call: { cadenceMs: 60_000 } } }));
  t.match(venue, { id: "my-base", name: "Our node", category: "rpc", chain: "base", socket: null });
  const urls = new Set(venue!.rest.map(({ url }) => url));
  t.strictSame([...urls], ["https://base.nodes.example"]);
  const of = (name: string) => venue!.rest.find((one) => one.name === name);
  t.match(of("chain")?.proof, { path: "$.result", equals: "0x2105" });
  t.equal(of("gas"), undefined);
  t.equal(of("call")?.cadenceMs, 60_000);
  t.notMatch(JSON.stringify(venue), "{with:");
  const price = venuesOf(coin)[0]!.rest.find(({ name }) => name === "price")!;
  t.match(price, { url: new RegExp(`ethereum:${contract}$`), proof: `$.coins['ethereum:${contract}'].price` });
  t.end();
});

void t.test("an override changes an entry of the catalogue that is made from a template", (t) => {
  const usde = catalogueEntry("usde") as Venue;
  const [changed] = venuesOf({
    id: "usde",
    override: { name: "My USDe", rest: { peg: { cadenceMs: 120_000 }, head: null } },
  });
  t.match(changed, { name: "My USDe", symbol: usde.symbol, rest: [{ name: "supply" }, { cadenceMs: 120_000 }, {}] });
  t.strictSame(
    problemsIn(() => venuesOf({ id: "usde", override: { rest: { peg: { cadenceMs: "slow" } } } })),
    [`venues[0] (usde).override.rest.peg.cadenceMs: expected ${duration}, found "slow"`],
  );
  t.end();
});

const wrong: [name: string, entry: object, ...problems: string[]][] = [
  [
    "a template with nearly the name of one",
    node({ template: "evm-nod" }),
    'template: expected the name of a file in registry/templates, perhaps evm-node, found "evm-nod"',
  ],
  [
    "a template that does not exist",
    node({ template: "something quite different" }),
    'template: expected the name of a file in registry/templates: evm-node, stablecoin, found "something quite different"',
  ],
  ["a template that is no name", node({ template: 7 }), /^template: expected the name of a file .*, found 7$/.source],
  [
    "a missing value",
    node({ with: { chain: "base", url: "https://base.nodes.example" } }),
    "with.chainId: expected the chain id in hexadecimal, such as 0x2105: an answer of another chain is bad, found nothing",
  ],
  [
    "no values",
    node({ with: undefined }),
    ...["chain", "chainId", "url"].map((name) => `^with\\.${name}: .*found nothing$`),
  ],
  [
    "values that are none",
    node({ with: ["base"] }),
    'with: expected an object with the values of the template, found ["base"]',
  ],
  [
    "an unknown value",
    { ...coin, with: { ...coin.with, decimals: 6 } },
    "with.decimals: expected no such value (known here: symbol, quote, contract, feed, feedStaleAfterMs), found 6",
  ],
  [
    "a text of another form",
    node({ with: { chain: "base", chainId: "8453", url: "https://base.nodes.example" } }),
    /^with\.chainId: expected the chain id in hexadecimal, .* \(\^0x\[0-9a-f\]\+\$\), found "8453"$/.source,
  ],
  [
    "no text where one is needed",
    { ...coin, with: { ...coin.with, contract: null } },
    /^with\.contract: expected the address of its token on Ethereum \(.*\), found null$/.source,
  ],
  [
    "a value of a wrong type",
    { ...coin, with: { ...coin.with, feedStaleAfterMs: "a day" } },
    'with.feedStaleAfterMs: expected a whole number of milliseconds from 100 to 172800000 (two days), found "a day"',
  ],
  [
    "a value that several fields use",
    node({ with: { chain: "base", chainId: "0x2105", url: "base.nodes.example" } }),
    /^with\.url: expected an https:\/\/ address .*, found "base\.nodes\.example"$/.source,
  ],
  [
    "a value that the rest of the template needs, without a default",
    node({ socket: {} }),
    "^with\\.socketUrl: expected a wss:// address .*, found null$",
    "^with\\.blocksPerMinute: expected a number of frames .*, found null$",
    "^with\\.stallAfterMs: expected a whole number .*, found null$",
  ],
  [
    "a change of its own",
    node({ rest: { gas: { timeoutMs: 6000, cadenceMs: 6000 } } }),
    "rest.gas.timeoutMs: expected at most 5400, nine tenths of its cadenceMs (a measurement must end before the next begins), found 6000",
  ],
  [
    "a change in place of a value",
    node({ rest: { gas: { url: "gas.nodes.example" } } }),
    /^rest\.gas\.url: expected an https:\/\/ address .*, found "gas\.nodes\.example"$/.source,
  ],
  ["a field that no entry has", node({ colour: "red" }), '^colour: expected no such property .*, found "red"$'],
];

for (const [name, entry, ...problems] of wrong)
  void t.test(`refused: ${name}`, (t) => {
    const found = problemsIn(() => venuesOf("kraken", entry));
    const places = found.map((line) => line.replace("venues[1] (my-base).", "").replace("venues[1] (coin).", ""));
    t.equal(found.length, problems.length, found.join("\n"));
    problems.forEach((problem, at) => t.match(places[at], problem.startsWith("^") ? new RegExp(problem) : problem));
    t.ok(
      found.every((line) => line.startsWith("venues[1] (")),
      "each begins with the place in the list",
    );
    t.strictSame(
      problemsIn(() => parseEntry(entry, "mine")),
      places,
      "an entry alone has the same without it",
    );
    t.end();
  });
