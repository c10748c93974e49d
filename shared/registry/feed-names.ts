import { publicAddress } from "./public-address.js";
import type { Registry } from "./registry.js";

/**
 * The name of each feed in the registry by its address: the address itself if the catalogue has it; otherwise its
 * origin and the first venue that has this feed.
 */
export function feedNames({ venues }: Registry): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { id, official } of venues)
    if (official?.api && !names.has(official.api)) names.set(official.api, feedName(official.api, id));
  return names;
}

function feedName(address: string, venue: string): string {
  const shown = publicAddress(address);
  return shown === address ? address : `${shown} (${venue})`;
}
