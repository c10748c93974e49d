/**
 * How an operator's registry differs from the catalogue. Repairs of the catalogue do not reach the parts that differ.
 */

import { isDeepStrictEqual } from "node:util";
import { catalogueEntry, expand } from "./catalogue.js";
import type { Registry } from "./registry.js";

export interface CatalogueDifference {
  venue: string;
  /** `socket.url`, `rest.ticker.cadenceMs` */
  place: string;
  /** Undefined: the operator's entry lacks it, or removes it. */
  own: unknown;
  /** Undefined: the catalogue's entry lacks it. */
  catalogue: unknown;
}

/** These change nothing that is measured. */
const aboutTheEntry: ReadonlySet<string> = new Set(["sources", "checkedAt", "ccxt"]);

/**
 * The fields of overrides and of whole entries that differ from those of the catalogue's entry with the same id.
 *
 * @param value what a valid registry file has
 */
export function catalogueDifferences(value: unknown): CatalogueDifference[] {
  const { venues: listed } = value as { venues: (string | { id: string })[] };
  const { venues } = expand(value).value as Registry;
  return venues.flatMap((venue, index) => {
    const one = listed[index]!;
    const entry = typeof one === "string" ? null : catalogueEntry(one.id);
    return entry === null
      ? []
      : differences(venue, entry, []).map((difference) => ({ venue: venue.id, ...difference }));
  });
}

type Difference = Omit<CatalogueDifference, "venue">;

function differences(own: unknown, catalogue: unknown, place: string[]): Difference[] {
  if (isDeepStrictEqual(own, catalogue)) return [];
  const [ownFields, fields] = [fieldsOf(own), fieldsOf(catalogue)];
  if (ownFields === null || fields === null) return [{ place: place.join("."), own, catalogue }];
  const keys = [...new Set([...ownFields.keys(), ...fields.keys()])];
  return keys
    .filter((key) => place.length > 0 || !aboutTheEntry.has(key))
    .flatMap((key) => differences(ownFields.get(key), fields.get(key), [...place, key]));
}

/** The fields of an object, or the named parts of a list; null for any other value. */
function fieldsOf(value: unknown): Map<string, unknown> | null {
  if (typeof value !== "object" || value === null) return null;
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  const parts = value as { name?: unknown }[];
  return parts.every((part) => typeof part?.name === "string")
    ? new Map(parts.map((part) => [part.name as string, part]))
    : null;
}
