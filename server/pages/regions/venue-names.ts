import { nameList } from "../parts/name-list.js";

/**
 * Some of the venues by name.
 *
 * @param names by id
 */
export function venueNames(ids: readonly string[], names: ReadonlyMap<string, string>): string {
  return nameList(ids.map((id) => names.get(id) ?? id));
}
