/** Chains as venues of their own: a chain that stands at all of its providers is the fault of none of them. */

import { staleHeadMs } from "../rules/probe-rules.js";
import type { Chain, Registry, Venue, VenueEnd } from "./registry.js";
import { endOfVenueMs } from "./venue-end.js";

/** How a chain is read. */
export interface ReadChain {
  blockMs: number;
  /** The hosts of its RPC providers, and how often each is asked, milliseconds. */
  hosts: ReadonlyMap<string, number>;
  /** Ids of these providers. */
  providers: string[];
}

type Read = Pick<Registry, "chains" | "venues">;

/**
 * The chains with a known block time, by name. Only venues of category `rpc` count as providers: others live on the
 * chain, and are read through the same nodes.
 */
export function readChains({ chains = {}, venues }: Read): ReadonlyMap<string, ReadChain> {
  return new Map(
    Object.entries(chains).map(([name, { blockMs }]) => {
      const providers = venues.filter(({ category, chain, rest }) => {
        return category === "rpc" && chain === name && rest.some(({ head }) => head);
      });
      const hosts = new Map<string, number>();
      for (const { url, head, cadenceMs } of providers.flatMap(({ rest }) => rest)) {
        const { host } = new URL(url);
        if (head) hosts.set(host, Math.min(cadenceMs, hosts.get(host) ?? cadenceMs));
      }
      return [name, { blockMs, hosts, providers: providers.map(({ id }) => id) }];
    }),
  );
}

/**
 * How often two providers of a chain have both been asked; null if it has only one, since a single provider does not
 * show whether the chain stands.
 */
export function chainCadence({ hosts }: Pick<ReadChain, "hosts">): number | null {
  return [...hosts.values()].sort((a, b) => a - b)[1] ?? null;
}

/** The venues of the registry, also ended ones, and behind them each chain that at least two providers read. */
export function watchedVenues(registry: Read): Venue[] {
  return [...registry.venues, ...chainVenues(registry)];
}

export function chainVenues(registry: Read): Venue[] {
  return [...readChains(registry)].flatMap(([chain, read]): Venue[] => {
    const cadenceMs = chainCadence(read);
    if (cadenceMs === null) return [];
    const { blockMs, providers } = read;
    const endedAt = endOfChain(registry, chain, providers);
    return [
      {
        ...{ id: chainVenueId(chain), name: chainVenueName(chain, registry), category: "rpc" },
        ...{ symbol: null, quote: null, chain, rest: [], socket: null, official: null },
        heads: { providers, cadenceMs, standsAfterMs: staleHeadMs(blockMs) },
        ...(endedAt && { endedAt }),
      },
    ];
  });
}

/** A chain ends with the provider that leaves fewer than two, as a chain of one provider was never watched. */
function endOfChain(registry: Read, chain: string, providers: readonly string[]): VenueEnd | undefined {
  const ofChain = registry.venues.filter(({ id }) => providers.includes(id));
  const ending = ofChain.filter(({ endedAt }) => endedAt).sort((a, b) => endOfVenueMs(a) - endOfVenueMs(b));
  const last = ending.find((venue) => {
    const left = registry.venues.filter((other) => endOfVenueMs(other) > endOfVenueMs(venue));
    return chainCadence(readChains({ ...registry, venues: left }).get(chain)!) === null;
  });
  if (last === undefined) return undefined;
  const { date, source } = last.endedAt!;
  return { date, what: `With ${last.name}, fewer than two providers of the chain are left to compare.`, source };
}

/** What people call a chain. */
export function chainName(chain: string, { chains = {} }: { chains?: Record<string, Chain> }): string {
  return chains[chain]?.name ?? `${chain[0]!.toUpperCase()}${chain.slice(1)}`;
}

/** `Ethereum chain`, but `BNB Smart Chain`. */
function chainVenueName(chain: string, registry: Read): string {
  const name = chainName(chain, registry);
  return /chain$/i.test(name) ? name : `${name} chain`;
}

/** An id has at most forty characters. */
const longestWords = 34;

export function chainVenueId(chain: string): string {
  const words = chain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, longestWords)
    .replace(/^-+|-+$/g, "");
  return [...(words === "" ? [] : [words]), "chain"].join("-");
}

/** A chain's id must be free: two histories would be mixed. */
export function chainIdProblems(registry: Registry): string[] {
  const taken = new Map(
    registry.venues.flatMap(({ id, formerIds = [] }) => [id, ...formerIds].map((one) => [one, `venue ${id}`])),
  );
  return chainVenues(registry).flatMap(({ id, chain }) => {
    const holder = taken.get(id);
    taken.set(id, `chain ${chain}`);
    return holder === undefined
      ? []
      : [`chains.${chain}: expected another name; with two providers it is the venue ${id}, the id of ${holder}`];
  });
}
