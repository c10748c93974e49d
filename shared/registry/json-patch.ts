import type { PlaceInRegistry } from "./registry-problem.js";

/**
 * A JSON merge patch (RFC 7396), with two additions. A list of named parts may be changed by an object of these names,
 * so that one endpoint can be changed without repeating the others. And null is a value for fields that an entry must
 * have, instead of removing them.
 *
 * @param patch undefined: no change
 */
export function patchedValue(value: unknown, patch: unknown): unknown {
  if (patch === undefined) return value;
  if (!isObject(patch)) return patch;
  if (isListOfParts(value)) return patchedParts(value, patch);
  // not by assignment, which would set the prototype for a key __proto__
  const fields = new Map(Object.entries(isObject(value) ? value : {}));
  for (const [key, change] of Object.entries(patch))
    if (change === null && !mayBeNull.has(key)) fields.delete(key);
    else fields.set(key, patchedValue(fields.get(key), change));
  return Object.fromEntries(fields);
}

/** Fields that an entry must have, and whose value may be null. */
const mayBeNull: ReadonlySet<string> = new Set([
  ...["symbol", "quote", "chain", "socket", "official"],
  ...["page", "api", "replyWithinMs", "deadAfterMs", "maxConnectionMs", "distribution"],
]);

export interface Part {
  name: string;
}

/** Endpoints or streams; not conditions or limits, which an object replaces. */
export function isListOfParts(value: unknown): value is Part[] {
  return Array.isArray(value) && value.every((item) => isObject(item) && typeof item["name"] === "string");
}

function patchedParts(parts: Part[], patch: Record<string, unknown>): unknown[] {
  const changed = parts
    .filter(({ name }) => !Object.hasOwn(patch, name) || patch[name] !== null)
    .map((part) => (Object.hasOwn(patch, part.name) ? patchedValue(part, patch[part.name]) : part));
  const names = parts.map(({ name }) => name);
  const added = Object.entries(patch)
    .filter(([name, change]) => change !== null && !names.includes(name))
    .map(([name, change]) => patchedValue({ name }, change));
  return [...changed, ...added];
}

/** The place in a patch for a place in the patched value: parts by name, unless the patch has a whole list. */
export function placeInPatch(value: unknown, patch: unknown, place: PlaceInRegistry): PlaceInRegistry {
  const [key, ...inner] = place;
  if (key === undefined) return [];
  const part = (value as Record<string | number, unknown> | undefined)?.[key];
  const isNamed = typeof key === "number" && !Array.isArray(patch) && isListOfParts(value);
  const word = isNamed ? value[key]!.name : key;
  const change = typeof patch === "object" && patch !== null ? (patch as Record<string, unknown>)[word] : undefined;
  return [word, ...placeInPatch(part, change, inner)];
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
