import { watchedVenues } from "../../shared/registry/chain-venues.js";
import type { Registry } from "../../shared/registry/registry.js";

/** Each venue's present id, by its present and former ids. */
export function presentIds(registry: Registry): ReadonlyMap<string, string> {
  return new Map(
    watchedVenues(registry).flatMap(({ id, formerIds = [] }) => [id, ...formerIds].map((one) => [one, id] as const)),
  );
}
