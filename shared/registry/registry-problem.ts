import { maskedAddress } from "../text/secrets.js";

/** A copy of a JSON value with other values in place of its texts. Names of properties stay. */
export function mapTexts(
  value: unknown,
  change: (text: string, place: PlaceInRegistry) => unknown,
  place: PlaceInRegistry = [],
): unknown {
  if (typeof value === "string") return change(value, place);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, change, [...place, index]));
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, mapTexts(part, change, [...place, key])] as const),
  );
}

// What is wrong in a registry and where, and how rules that find it are combined.

/** Keys and indices from the root of the registry. */
export type PlaceInRegistry = (string | number)[];

/** `expected` completes "expected …"; the caller reads what was found at the place. */
export interface RegistryProblem {
  place: PlaceInRegistry;
  expected: string;
}

export function must(holds: boolean, place: PlaceInRegistry, expected: string): RegistryProblem[] {
  return holds ? [] : [{ place, expected }];
}

/** `venues[3] (okx).rest[1].cadenceMs` */
export function placeText(place: PlaceInRegistry, root: unknown): string {
  const steps = place.map((key, index) => {
    if (typeof key === "string") return /^\w+$/.test(key) ? `.${key}` : `[${JSON.stringify(maskedAddress(key))}]`;
    const id = index === 1 ? valueAt(root, [...place.slice(0, 2), "id"]) : null;
    return typeof id === "string" ? `[${key}] (${maskedAddress(id).slice(0, 40)})` : `[${key}]`;
  });
  return steps.join("").replace(/^\./, "") || "the whole file";
}

export function valueAt(root: unknown, place: PlaceInRegistry): unknown {
  return place.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string | number, unknown>)[key]
        : undefined,
    root,
  );
}
