import { createHash } from "node:crypto";
import { UserError } from "../../shared/process/user-error.js";
import { addressIn, publicAddress } from "../../shared/registry/addresses.js";
import { watchedVenues } from "../../shared/registry/chain-venues.js";
import { componentsOf } from "../../shared/registry/components.js";
import { type Registry, type SpelledName, stallBasis, type Venue } from "../../shared/registry/registry.js";
import type { CoreDb } from "./migrating-role.js";

/**
 * Syncs the tables of regions, venues and components with the registry. Rows that it no longer contains are
 * unpublished, never deleted; renamed venues keep their history.
 *
 * @param db a transaction: between renaming and syncing, an older registry would unpublish the renamed venues
 * @throws UserError if a venue and one of its former ids both have a history
 */
export async function syncRegistry(db: CoreDb, registry: Registry): Promise<void> {
  await renameVenues(db, registry);
  await db.file("sync_registry", [JSON.stringify(rowsOf(registry))]);
  const transfers = JSON.stringify(transferRowsOf(registry));
  await db.file("sync_transfers", [transfers]);
  // apart: an upsert in the same statement would not see the rows that others have removed
  await db.file("sync_transfer_names", [transfers]);
  await db.script("call upkeep.store_components_published()");
  // recomputed for the venues and categories that are published now
  await db.script("call upkeep.store_typical()");
  await db.script("call upkeep.published_past_changed()");
}

async function renameVenues(db: CoreDb, { venues }: Registry): Promise<void> {
  const renamed = venues
    .filter(({ formerIds }) => formerIds !== undefined)
    .map(({ id, formerIds }) => ({ venue: id, formerIds }));
  if (renamed.length === 0) return;
  const several = await db.file<{ venue: string; rows: string[] }>("rename_venues", [JSON.stringify(renamed)]);
  if (several.length > 0)
    throw new UserError(
      [
        "formerIds in the registry: histories are not merged.",
        ...several.map(
          ({ venue, rows }) =>
            `The database has separate histories of ${rows.join(" and ")}, so ${venue} cannot take over another one.`,
        ),
        "Take those ids out of formerIds: their history stays in the database, unpublished.",
      ].join(" "),
    );
}

function rowsOf(registry: Registry) {
  const feeds = feedNames(registry);
  return {
    regions: registry.regions.map(({ id, name }) => ({ region: id, name })),
    venues: watchedVenues(registry).map((venue) => ({
      venue: venue.id,
      name: venue.name,
      category: venue.category,
      symbol: venue.symbol,
      quote: venue.quote,
      chain: venue.chain,
      officialKind: venue.official?.kind ?? null,
      officialPage: venue.official?.page ?? null,
      ...feedOf(venue, feeds),
      about: venue.official?.about ?? null,
      notAbout: venue.official?.notAbout ?? null,
      formerIds: venue.formerIds ?? [],
      entry: entryOf(venue, registry),
      endsAt: venue.endedAt === undefined ? null : startOf(venue.endedAt),
      components: componentsOf(venue).map((component) => ({
        component: component.id,
        label: component.label,
        target: component.target,
        cadenceMs: component.cadenceMs,
        entry: fingerprintOf(registry, venue, component.id),
        ...endOf(venue, component.id),
        ...stallOf(venue, component.id),
      })),
    })),
  };
}

function feedOf({ official }: Venue, names: ReadonlyMap<string, string>) {
  const address = official?.api ?? null;
  const officialFeed = address === null ? null : names.get(address)!;
  return { officialFeed, officialAddress: officialFeed === address ? null : address };
}

/** The public part of the entry, without the fields that it lacks. */
function entryOf(venue: Venue, { chains = {} }: Registry) {
  const { sources, checkedAt, until, endedAt, limits, blockedIn, edgeCacheMs, ccxt, chain, heads } = venue;
  const ofChain = { blockMs: chain === null ? undefined : chains[chain]?.blockMs, providers: heads?.providers };
  return { sources, checkedAt, until, endedAt, limits, blockedIn, edgeCacheMs, ccxtId: ccxt?.id, ...ofChain };
}

/** A component ends by itself or with its venue, whichever is first. */
function endOf({ until, endedAt }: Venue, component: string) {
  const own = until && (until.components ?? [component]).includes(component) ? until : undefined;
  const [first] = [own, endedAt].flatMap((end) => end ?? []).sort((a, b) => a.date.localeCompare(b.date));
  return first ? { endsAt: startOf(first), endsBecause: first.what } : {};
}

function startOf({ date }: { date: string }): string {
  return `${date}T00:00:00Z`;
}

/**
 * Changes with whatever decides whether a component is good: where it is, also for regions with hosts of their own,
 * what is asked, and what proves the answer. Not with its cadence, its words for limits, or other nodes for the same
 * answer; nor with the value of a credential, which only the probes know.
 */
function fingerprintOf({ regions }: Registry, { rest, socket }: Venue, component: string): string {
  const [, name] = component.split(":");
  const endpoint = component.startsWith("rest:") && rest.find((one) => one.name === name);
  const stream = component.startsWith("ws:") && socket?.streams.find((one) => one.name === name);
  const parts = endpoint
    ? [endpoint.method, endpoint.url, endpoint.body, endpoint.expectStatus, endpoint.proof, endpoint.headers]
    : stream
      ? [stream.url ?? socket?.url, stream.subscribe, stream.acknowledge, stream.match, stream.ignore, socket?.headers]
      : [socket?.url, socket?.headers];
  const address = endpoint ? endpoint.url : (stream && stream.url) || socket?.url;
  // a chain has no address, and stays the same with other providers
  const elsewhere = regions
    .map((region) => [region.id, address && addressIn(region, address)])
    .filter(([, there]) => there !== address);
  return createHash("sha256")
    .update(JSON.stringify([...parts, ...elsewhere]))
    .digest("base64url")
    .slice(0, 22);
}

/** Empty for an endpoint and for the socket, which have no stall threshold. */
function stallOf(venue: Venue, component: string) {
  const stream = venue.socket?.streams.find(({ name }) => `ws:${name}` === component);
  return stream ? { stallAfterMs: stream.stall.afterMs, stallBasis: stallBasis(stream) } : {};
}

/**
 * The name of each feed in the registry by its address: the address itself if the catalogue has it; otherwise its
 * origin and the first venue that has this feed.
 */
export function feedNames({ venues }: Registry): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { id, official } of venues)
    if (official?.api && !names.has(official.api)) names.set(official.api, feedName(official.api, id));
  return names;
}

function feedName(address: string, venue: string): string {
  const shown = publicAddress(address);
  return shown === address ? address : `${shown} (${venue})`;
}

function transferRowsOf({ assets = {}, networks = {}, venues }: Registry) {
  const named = (spelled: Record<string, SpelledName>) =>
    Object.entries(spelled).map(([id, { name }]) => ({ id, name }));
  return {
    assets: named(assets),
    networks: named(networks),
    spellings: [...spellingsOf("asset", assets), ...spellingsOf("network", networks)],
    sources: venues.flatMap(({ id, transfers }) => (transfers === undefined ? [] : [{ venue: id, ...transfers }])),
  };
}

/** Without regard to capitals; each once, since an id is often also one of the names. */
function spellingsOf(subject: "asset" | "network", spelled: Record<string, SpelledName>) {
  const spellings = Object.entries(spelled).flatMap(([means, { names = [], venues = {} }]) =>
    [["", [means, ...names]] as const, ...Object.entries(venues)].flatMap(([venue, own]) =>
      own.map((name) => ({ subject, venue, spelt: name.toLowerCase(), means })),
    ),
  );
  return [...new Map(spellings.map((one) => [`${one.venue} ${one.spelt}`, one])).values()];
}
