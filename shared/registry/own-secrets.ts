/**
 * An operator's own addresses may have a key in any part: in the path at most providers of nodes, in the query under
 * any name, or in a message. The catalogue has none, and everybody can read it.
 */

import { wholeCatalogue } from "./catalogue.js";

/** A copy in which only what the catalogue has, too, is whole. */
export function withoutOwnSecrets<Value>(value: Value): Value {
  const known = knownTexts();
  const text = JSON.stringify(value, (name, part: unknown) => {
    if (typeof part !== "string" || known.texts.has(part)) return part;
    if (secretName.test(name)) return "***";
    return part.replace(address, (found) => shortened(found, known));
  });
  return JSON.parse(text) as Value;
}

const address = /\b(?:https?|wss?):[/\\]{1,2}[^\s"'<>]+/gi;
const secretName = /key|token|secret|passw|pwd|auth|sig/i;

interface Known {
  texts: ReadonlySet<string>;
  /** Addresses without their queries. */
  places: ReadonlySet<string>;
}

function knownTexts(): Known {
  const texts = new Set<string>();
  JSON.stringify(wholeCatalogue(), (_, part: unknown) => {
    if (typeof part === "string") texts.add(part);
    return part;
  });
  const addresses = [...texts].filter((text) => URL.canParse(text)).map((text) => new URL(text));
  return { texts, places: new Set(addresses.map(placeOf)) };
}

/** Its origin, and its path where the catalogue has it. */
function shortened(found: string, { texts, places }: Known): string {
  if (texts.has(found)) return found;
  if (!URL.canParse(found)) return "…";
  const url = new URL(found);
  if (url.href === `${url.origin}/`) return found;
  return url.pathname !== "/" && places.has(placeOf(url)) ? `${placeOf(url)}?…` : `${url.origin}/…`;
}

function placeOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}
