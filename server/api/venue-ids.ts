import type { Registry } from "../../shared/registry/registry.js";

/** The present id of every venue, by each id that it has or had. */
export function presentIds({ venues }: Registry): ReadonlyMap<string, string> {
  return new Map(venues.flatMap(({ id, formerIds = [] }) => [id, ...formerIds].map((one) => [one, id] as const)));
}
