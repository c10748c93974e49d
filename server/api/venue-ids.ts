import type { Registry } from "../../shared/registry/registry.js";

/** Each venue's present id, by its present and former ids. */
export function presentIds({ venues }: Registry): ReadonlyMap<string, string> {
  return new Map(venues.flatMap(({ id, formerIds = [] }) => [id, ...formerIds].map((one) => [one, id] as const)));
}
