/**
 * What may be shown of an address. A key may be in any part of an operator's own: in the path at most providers of
 * nodes, in the query under any name. The addresses of the catalogue have none, and everybody can read them.
 */
import { wholeCatalogue } from "./catalogue.js";
import type { Region, Registry, RestEndpoint, SocketConfig } from "./registry.js";

/** An address as the catalogue has it; of any other its origin, and its path where the catalogue has that. */
export function publicAddress(address: string): string {
  const { texts, places } = catalogueTexts();
  if (texts.has(address)) return address;
  if (!URL.canParse(address)) return cutAddress(address);
  const url = new URL(address);
  if (url.href === `${url.origin}/`) return address;
  return url.pathname !== "/" && places.has(placeOf(url)) ? `${placeOf(url)}?…` : `${url.origin}/…`;
}

/** For a text that should be an address, and may be malformed: cuts what follows its host. */
export function cutAddress(text: string): string {
  const [host] = /^(?:[^/?#\\]|[/\\]{2})*/.exec(text)!;
  return text.length - host.length > 1 ? `${host}/…` : text;
}

/** Whether the catalogue has this text, at any place. */
export function isOfCatalogue(text: string): boolean {
  return catalogueTexts().texts.has(text);
}

/** Whether a text of the catalogue has this word. Case does not matter. */
export function isWordOfCatalogue(word: string): boolean {
  return catalogueTexts().words.has(word.toLowerCase());
}

/** The words of a text as `isWordOfCatalogue` distinguishes them. */
export function catalogueWords(text: string): string[] {
  return text.toLowerCase().split(/[^\w-]+/);
}

interface Known {
  texts: ReadonlySet<string>;
  /** Addresses without their queries. */
  places: ReadonlySet<string>;
  words: ReadonlySet<string>;
}

let cachedTexts: Known | undefined;

/** Read at the first use. A release does not change its catalogue. */
function catalogueTexts(): Known {
  if (cachedTexts) return cachedTexts;
  const texts = new Set<string>();
  JSON.stringify(wholeCatalogue(), (_, part: unknown) => {
    if (typeof part === "string") texts.add(part);
    return part;
  });
  const addresses = [...texts].filter((text) => URL.canParse(text)).map((text) => new URL(text));
  const words = new Set([...texts].flatMap(catalogueWords));
  return (cachedTexts = { texts, places: new Set(addresses.map(placeOf)), words });
}

function placeOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

// Regions with hosts of their own, for venues that serve public data elsewhere to countries that they block.

/**
 * The registry with the addresses at which a region measures. Only code that asks a venue uses it: components keep the
 * address of the entry in the database and on pages.
 */
export function measuredIn(registry: Registry, regionId: string | null): Registry {
  const region = registry.regions.find(({ id }) => id === regionId);
  if (!region?.hosts) return registry;
  const venues = registry.venues.map((venue) => ({
    ...venue,
    rest: venue.rest.map((endpoint) => relocatedTo(endpoint, region)),
    socket: venue.socket && socketIn(venue.socket, region),
  }));
  return { ...registry, venues };
}

/** The address at which a region's probes measure, by the region's own hosts. */
export function addressIn({ hosts = {} }: Region, address: string): string {
  const { host } = new URL(address);
  // the address may write its host in capitals, or name the usual port
  return Object.hasOwn(hosts, host) ? address.replace(/^(\w+:\/\/)[^/?]+/, `$1${hosts[host]}`) : address;
}

function relocatedTo<Asked extends Pick<RestEndpoint | SocketConfig, "url" | "alternatives">>(
  asked: Asked,
  region: Region,
): Asked {
  const { url, alternatives } = asked;
  return {
    ...asked,
    url: addressIn(region, url),
    ...(alternatives && { alternatives: alternatives.map((one) => addressIn(region, one)) }),
  };
}

function socketIn(socket: SocketConfig, region: Region): SocketConfig {
  const streams = socket.streams.map((stream) =>
    stream.url === undefined ? stream : { ...stream, url: addressIn(region, stream.url) },
  );
  return { ...relocatedTo(socket, region), streams };
}
