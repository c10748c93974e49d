/**
 * The catalogue of venues, `registry/venues`: a file for each, which a registry names by its id, as it is or with
 * changes. So a registry of ids gets the repairs of each release.
 */

import { readdirSync, readFileSync } from "node:fs";
import { packagedFile } from "../config/package.js";
import { nearestWord } from "../text/nearest-word.js";
import type { PlaceInRegistry, RegistryProblem } from "./registry-rules.js";

/** Ids of the venues in the catalogue. */
export function catalogueIds(): string[] {
  return readdirSync(packagedFile("registry/venues")).map((file) => file.replace(/\.json$/, ""));
}

interface Expanded {
  /** The registry with whole entries; what cannot be expanded stays as it is. */
  value: unknown;
  problems: RegistryProblem[];
}

/**
 * Replaces ids and overrides in a registry by whole entries.
 *
 * @param value any value that was in the file
 */
export function expand(value: unknown): Expanded {
  if (!isObject(value) || !Array.isArray(value["venues"])) return { value, problems: [] };
  const listed: unknown[] = value["venues"];
  const known = new Set(listed.some(isFromCatalogue) ? catalogueIds() : []);
  const problems: RegistryProblem[] = [];
  const venues = listed.map((one, index) => {
    const id = idOf(one);
    if (id === null) return one;
    if (known.has(id)) return entryOf(one, id);
    const near = nearestWord(id, [...known]);
    const hint = near === null ? "" : `, perhaps ${near}`;
    const place: PlaceInRegistry = ["venues", index, ...(typeof one === "string" ? [] : ["id"])];
    problems.push({ place, expected: `the id of a venue in registry/venues${hint}` });
    return one;
  });
  if (known.size === 0) return { value, problems };
  const chains = { ...(catalogueFile("chains") as object), ...(value["chains"] as object | undefined) };
  return { value: { ...value, chains, venues }, problems };
}

function entryOf(listed: unknown, id: string): unknown {
  const entry = catalogueFile(`venues/${id}`);
  return isObject(listed) ? patched(entry, listed["override"]) : entry;
}

function catalogueFile(name: string): unknown {
  return JSON.parse(readFileSync(packagedFile(`registry/${name}.json`), "utf8"));
}

function isFromCatalogue(listed: unknown): boolean {
  return idOf(listed) !== null;
}

/** Null for a whole entry, and for what is no venue at all. */
function idOf(listed: unknown): string | null {
  if (typeof listed === "string") return listed;
  if (!isObject(listed) || !("override" in listed)) return null;
  return typeof listed["id"] === "string" ? listed["id"] : null;
}

/**
 * A JSON merge patch (RFC 7396), with one addition: a list of named parts may be changed by an object of these names,
 * so that one endpoint can be changed without repeating the others.
 */
function patched(value: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  if (Array.isArray(value)) return patchedParts(value as { name?: unknown }[], patch);
  const result: Record<string, unknown> = isObject(value) ? { ...value } : {};
  for (const [key, change] of Object.entries(patch))
    if (change === null && !isRequired.has(key)) delete result[key];
    else result[key] = patched(result[key], change);
  return result;
}

/** Fields whose value may be null, so that null sets it. */
const isRequired: ReadonlySet<string> = new Set([
  ...["symbol", "quote", "chain", "socket", "official"],
  ...["page", "api", "replyWithinMs", "deadAfterMs", "maxConnectionMs", "distribution"],
]);

function patchedParts(parts: { name?: unknown }[], patch: Record<string, unknown>): unknown[] {
  const names = parts.map(({ name }) => name);
  const changed = parts.map((part) => {
    const change = Object.hasOwn(patch, String(part.name)) ? patch[String(part.name)] : {};
    return change === null ? null : patched(part, change);
  });
  const added = Object.entries(patch)
    .filter(([name, change]) => change !== null && !names.includes(name))
    .map(([name, change]) => patched({ name }, change));
  return [...changed.filter((part) => part !== null), ...added];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
