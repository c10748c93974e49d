import { isolated } from "../parts/isolated.js";
import type { RegionNames } from "./incident-detail.js";

/** Its name, or its id when it is no longer in the registry. */
export function regionName(names: RegionNames, id: string): string {
  return isolated(names.get(id) ?? id);
}
