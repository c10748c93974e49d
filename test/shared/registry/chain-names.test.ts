/** What people call a chain, and when a chain ends as a venue of its own. */
import t from "tap";
import { chainVenues } from "../../../shared/registry/chain-venues.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import type { Chain, Venue } from "../../../shared/registry/registry.js";
import { simplestEndpoint, simplestVenue } from "../../support/simplest-venue.js";

const blockMs = 2000;

function provider(id: string, chain: string, ends?: string): Venue {
  const head = { path: "$.result", encoding: "hex" } as const;
  const venue = simplestVenue(id, simplestEndpoint("head", { url: `https://${id}.example.org/`, head }));
  const endedAt = ends === undefined ? {} : { endedAt: { date: ends, what: `${id} closes.`, source: `${id}.test` } };
  return { ...venue, ...{ category: "rpc", symbol: null, quote: null, chain }, ...endedAt };
}

function chainOf(chain: Omit<Chain, "blockMs" | "source">, ...ends: (string | undefined)[]): Venue | undefined {
  const venues = ends.map((date, at) => provider(`node${at}`, "bsc", date));
  return chainVenues({ chains: { bsc: { blockMs, source: "test", ...chain } }, venues })[0];
}

void t.test("a chain is called by its name, or by its key with a capital", (t) => {
  const named = (name?: string) => chainOf(name === undefined ? {} : { name }, undefined, undefined)!.name;
  t.equal(named(), "Bsc chain");
  t.equal(named("Base"), "Base chain");
  t.equal(named("BNB Smart Chain"), "BNB Smart Chain", "which already says that it is one");
  t.equal(named("Avalanche C-Chain"), "Avalanche C-Chain");
  t.end();
});

void t.test("chains of the catalogue have the names that people use", async (t) => {
  const { chains } = await loadRegistry("registry/all.json");
  t.match(chains, { bsc: { name: "BNB Smart Chain" }, optimism: { name: "OP Mainnet" }, tron: { name: "TRON" } });
});

void t.test("a chain ends with the provider that leaves fewer than two", (t) => {
  const endOf = (...ends: (string | undefined)[]) => chainOf({}, ...ends)!.endedAt;
  t.equal(endOf(undefined, undefined), undefined);
  t.equal(endOf(undefined, undefined, "2026-09-23"), undefined, "two are left");
  t.match(endOf(undefined, "2026-09-23"), { date: "2026-09-23", what: /^With node1, /, source: "node1.test" });
  t.match(endOf("2026-11-01", undefined, "2026-09-23"), { date: "2026-11-01", what: /^With node0, / });
  t.match(endOf("2026-09-23", "2026-09-23", "2026-09-23"), { date: "2026-09-23" }, "all on one day");
  t.end();
});
