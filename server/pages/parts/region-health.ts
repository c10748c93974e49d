import type { regionsResponse } from "../../api/schemas/service.js";
import type { TypeOf } from "../../api/schemas/shapes.js";
import { boardWords, type State } from "../words.js";

export type Regions = TypeOf<typeof regionsResponse>;
export type RegionSummary = Regions["regions"][number];

/** Whether a region can be relied on, as a sign and in words. */
export function healthOf(region: RegionSummary): [state: State, word: string] {
  if (region.impaired !== null) return ["outage", boardWords.regionImpaired];
  if (!region.reporting) return ["unknown", boardWords.regionSilent];
  if (region.troubles.length > 0) return ["degraded", boardWords.regionTroubled];
  return ["operational", boardWords.regionReports];
}
