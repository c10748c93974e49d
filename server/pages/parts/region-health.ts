import type { regionsResponse } from "../../api/schemas/service.js";
import type { TypeOf } from "../../api/schemas/shapes.js";
import { type State } from "../words.js";

export type Regions = TypeOf<typeof regionsResponse>;
export type RegionSummary = Regions["regions"][number];

/** Whether a region can be relied on, as a sign and in words. */
export function healthOf(region: RegionSummary): [state: State, word: string] {
  if (region.impaired !== null) return ["outage", "impaired: its votes are not counted"];
  if (!region.reporting) return ["unknown", "sends nothing: its votes are not counted"];
  if (region.troubles.length > 0) return ["degraded", "has trouble of its own"];
  return ["operational", "reports"];
}
