/** What is wrong in a registry and where, and how rules that find it are combined. */

import { maskedAddress } from "../text/masked-text.js";

/** Keys and indices from the root of the registry. */
export type PlaceInRegistry = (string | number)[];

/** `expected` completes "expected …"; the caller reads what was found at the place. */
export interface RegistryProblem {
  place: PlaceInRegistry;
  expected: string;
}

/** Whether the shape is valid at a place and within it. */
export type Sound = (part: PlaceInRegistry) => boolean;

export function at(isSound: Sound, outer: PlaceInRegistry): Sound {
  return (part) => isSound([...outer, ...part]);
}

/** Applies rules where the parts that they read have a valid shape. */
export function reading(isSound: Sound, parts: string[], rules: () => RegistryProblem[]): RegistryProblem[] {
  return parts.every((part) => isSound([part])) ? rules() : [];
}

export function must(holds: boolean, place: PlaceInRegistry, expected: string): RegistryProblem[] {
  return holds ? [] : [{ place, expected }];
}

export function each<T>(
  list: PlaceInRegistry,
  items: T[],
  rules: (item: T, place: PlaceInRegistry) => RegistryProblem[],
): RegistryProblem[] {
  return items.flatMap((item, index) => {
    const place = [...list, index];
    return within(place, rules(item, place));
  });
}

export function within(outer: PlaceInRegistry, problems: RegistryProblem[]): RegistryProblem[] {
  return problems.map(({ place, expected }) => ({
    place: [...outer, ...place],
    expected,
  }));
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
