/**
 * What may be shown of an address. A key may be in any part of an operator's own: in the path at most providers of
 * nodes, in the query under any name. The addresses of the catalogue have none, and everybody can read them.
 */

import { wholeCatalogue } from "./catalogue.js";

/** An address as the catalogue has it; of any other its origin, and its path where the catalogue has that. */
export function publicAddress(address: string): string {
  const { texts, places } = known();
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
  return known().texts.has(text);
}

/** Whether a text of the catalogue has this word. Case does not matter. */
export function isWordOfCatalogue(word: string): boolean {
  return known().words.has(word.toLowerCase());
}

/** The words of a text as `isWordOfCatalogue` distinguishes them. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/[^\w-]+/);
}

interface Known {
  texts: ReadonlySet<string>;
  /** Addresses without their queries. */
  places: ReadonlySet<string>;
  words: ReadonlySet<string>;
}

let catalogue: Known | undefined;

/** Read at the first use. A release does not change its catalogue. */
function known(): Known {
  if (catalogue) return catalogue;
  const texts = new Set<string>();
  JSON.stringify(wholeCatalogue(), (_, part: unknown) => {
    if (typeof part === "string") texts.add(part);
    return part;
  });
  const addresses = [...texts].filter((text) => URL.canParse(text)).map((text) => new URL(text));
  const words = new Set([...texts].flatMap(wordsOf));
  return (catalogue = { texts, places: new Set(addresses.map(placeOf)), words });
}

function placeOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}
