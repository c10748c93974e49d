import type { PlaceInRegistry } from "./registry-problem.js";

/** A copy of a JSON value with other texts. Names of properties stay. */
export function mapTexts(
  value: unknown,
  change: (text: string, place: PlaceInRegistry) => string,
  place: PlaceInRegistry = [],
): unknown {
  if (typeof value === "string") return change(value, place);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, change, [...place, index]));
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, mapTexts(part, change, [...place, key])] as const),
  );
}
