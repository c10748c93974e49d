/**
 * The catalogue of venues, `registry/venues`: a file for each. A registry names a venue by its id, as it is or with
 * changes, and so gets the repairs of each release.
 */
import { readdirSync, readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { packagedFile } from "../config/package.js";
import { nearestWord } from "../text/nearest-word.js";
import { isListOfParts, isObject, type Part, patchedValue, placeInPatch } from "./json-patch.js";
import type { PlaceInRegistry, RegistryProblem } from "./registry-problem.js";
import type { Registry } from "./registry.js";
import { fromTemplate } from "./templates.js";

/** Ids of the venues in the catalogue. */
export function catalogueIds(): string[] {
  const files = readdirSync(packagedFile("registry/venues"));
  return files.filter((file) => file.endsWith(".json")).map((file) => file.replace(/\.json$/, ""));
}

/** An entry of the catalogue, unchecked; null if it has none with this id. */
export function catalogueEntry(id: string): unknown {
  return catalogueIds().includes(id) ? entryIn(id) : null;
}

/** Its venues, chains, assets and networks, unchecked. */
export function wholeCatalogue(): unknown[] {
  const others = ["chains", "assets", "networks"].map(catalogueFile);
  return [...others, ...catalogueIds().map(entryIn)];
}

function entryIn(id: string): unknown {
  const written = catalogueFile(`venues/${id}`);
  const made = fromTemplate(written);
  if (made === null) return written;
  const [problem] = made.problems;
  if (problem) throw new Error(`registry/venues/${id}.json, ${problem.place.join(".")}: expected ${problem.expected}`);
  return made.entry;
}

export interface Expanded {
  /** The registry with whole entries; what cannot be expanded stays as it is. */
  value: unknown;
  problems: RegistryProblem[];
  /** Where the operator's file has, or could have, what is at a place of `value`: in an override, if there is one. */
  placeInFile: (place: PlaceInRegistry) => PlaceInRegistry;
}

/**
 * Replaces ids, overrides and templates in a registry by whole entries, and adds the catalogue's chains, assets and
 * networks if there are any. The file's own assets replace those of the catalogue, so that an operator may choose
 * fewer.
 *
 * @param value any value that was in the file
 */
export function expand(value: unknown): Expanded {
  const asWritten: Expanded = { value, problems: [], placeInFile: (place) => place };
  if (!isObject(value) || !Array.isArray(value["venues"])) return asWritten;
  const listed: unknown[] = value["venues"];
  const named = listed.map(namedIn);
  const templated = listed.map(fromTemplate);
  if ([...named, ...templated].every((one) => one === null)) return asWritten;
  const known = catalogueIds();
  const isKnown = (name: Named | null) => name !== null && known.includes(name.id);
  const venues = named.map((name, index) =>
    isKnown(name) ? entryOf(name!) : (templated[index]?.entry ?? listed[index]),
  );
  const problems = named.flatMap((name, index): RegistryProblem[] => {
    if (name === null)
      return (templated[index]?.problems ?? []).map(({ place, expected }) => ({
        ...{ place: ["venues", index, ...place], expected },
      }));
    if (isKnown(name)) return [];
    const near = nearestWord(name.id, known);
    const expected = `the id of a venue of the catalogue, registry/venues${near === null ? "" : `, perhaps ${near}`}`;
    return [{ place: ["venues", index, ...(name.override === undefined ? [] : ["id"])], expected }];
  });
  const { chains, assets = catalogueFile("assets"), networks } = value;
  return {
    value: { ...value, chains: withOwn("chains", chains), assets, networks: withOwn("networks", networks), venues },
    problems,
    placeInFile(place) {
      const [list, index, ...inner] = place as [string, number, ...PlaceInRegistry];
      if (list !== "venues") return place;
      const made = templated[index] ?? null;
      if (made !== null) return [list, index, ...made.placeInWritten(inner)];
      const name = named[index] ?? null;
      if (name?.override === undefined || !isKnown(name)) return place;
      return [list, index, "override", ...placeInPatch(venues[index], name.override, inner)];
    },
  };
}

function withOwn(file: string, own: unknown = {}): unknown {
  return isObject(own) ? { ...(catalogueFile(file) as object), ...own } : own;
}

/** A venue of the catalogue that a registry names. */
interface Named {
  id: string;
  /** Undefined: as it is. */
  override: Record<string, unknown> | undefined;
}

/** Null for a whole entry, and for what the schema refuses. */
function namedIn(listed: unknown): Named | null {
  if (typeof listed === "string") return { id: listed, override: undefined };
  if (!isObject(listed) || Object.keys(listed).some((key) => key !== "id" && key !== "override")) return null;
  const { id, override } = listed;
  return typeof id === "string" && isObject(override) ? { id, override } : null;
}

function entryOf({ id, override }: Named): unknown {
  const entry = entryIn(id);
  const result = patchedValue(entry, override);
  const left = componentNames(result);
  const removed = componentNames(entry).filter((name) => !left.includes(name));
  return removed.length === 0 || !isObject(result) ? result : withoutTraces(result, removed);
}

/** `rest:ticker`, `ws:trades`; of an entry whose shape may be invalid. */
function componentNames(entry: unknown): string[] {
  const { rest, socket } = isObject(entry) ? entry : {};
  const streams = isObject(socket) ? socket["streams"] : [];
  const named = (kind: string, parts: unknown) => (isListOfParts(parts) ? parts.map(({ name }) => kind + name) : []);
  return [...named("rest:", rest), ...named("ws:", streams)];
}

/**
 * Removes what the rest of the entry says of components that an override removed: limits, an end, counterparts.
 * Otherwise a limit that a release adds to the catalogue could make an operator's registry invalid.
 */
function withoutTraces(entry: Record<string, unknown>, removed: string[]): unknown {
  const { limits, until, socket } = entry;
  const endpoints = removed.filter((id) => id.startsWith("rest:")).map((id) => id.slice("rest:".length));
  const limitsLeft = Array.isArray(limits)
    ? limits.map((limit: unknown) => withoutNames(limit, "endpoints", endpoints)).filter((limit) => limit !== undefined)
    : limits;
  const fields = {
    ...entry,
    limits: Array.isArray(limitsLeft) && limitsLeft.length === 0 ? undefined : limitsLeft,
    until: withoutNames(until, "components", removed),
    socket:
      isObject(socket) && isListOfParts(socket["streams"])
        ? { ...socket, streams: socket["streams"].map((stream) => withoutCounterpart(stream, endpoints)) }
        : socket,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** An object without these names in its list; undefined if none is left. */
function withoutNames(owner: unknown, key: string, names: string[]): unknown {
  if (!isObject(owner) || !Array.isArray(owner[key])) return owner;
  const left = owner[key].filter((name: string) => !names.includes(name));
  return left.length === 0 ? undefined : { ...owner, [key]: left };
}

function withoutCounterpart(stream: Part & { counterpart?: unknown }, endpoints: string[]): unknown {
  const { counterpart, ...rest } = stream;
  return endpoints.includes(counterpart as string) ? rest : stream;
}

function catalogueFile(name: string): unknown {
  return JSON.parse(readFileSync(packagedFile(`registry/${name}.json`), "utf8"));
}

// How an operator's registry differs from the catalogue. Repairs of the catalogue do not reach the parts that differ.

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
      : differencesIn(venue, entry, []).map((difference) => ({ venue: venue.id, ...difference }));
  });
}

type Difference = Omit<CatalogueDifference, "venue">;

function differencesIn(own: unknown, catalogue: unknown, place: string[]): Difference[] {
  if (isDeepStrictEqual(own, catalogue)) return [];
  const [ownFields, fields] = [fieldsOf(own), fieldsOf(catalogue)];
  if (ownFields === null || fields === null) return [{ place: place.join("."), own, catalogue }];
  const keys = [...new Set([...ownFields.keys(), ...fields.keys()])];
  return keys
    .filter((key) => place.length > 0 || !aboutTheEntry.has(key))
    .flatMap((key) => differencesIn(ownFields.get(key), fields.get(key), [...place, key]));
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
