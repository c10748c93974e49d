import type { RegionSummary } from "../parts/region-health.js";
import { isolated } from "../board/headline.js";
import { regionsWords } from "../words.js";

/** `Frankfurt, Hetzner AS24940 (fra1)`, as far as the operator has said it. */
export function vantageText({ name, place, network }: RegionSummary["vantage"]): string {
  const known = [place, network].filter((text) => text !== null).map(isolated);
  const where = known.length > 0 ? known.join(", ") : regionsWords.placeUnknown;
  return name === null ? where : `${where} (${isolated(name)})`;
}
