/** What the address of a venue's page selects. */
import type { exchangeResponse } from "../../api/schemas/venue.js";
import type { TypeOf } from "../../api/schemas/shapes.js";

export type VenueDetail = TypeOf<typeof exchangeResponse>;

export interface VenueView {
  venue: string;
  range: "24h" | "7d";
  /** Of the latency chart, the endpoints and the streams; null if there are no regions. */
  region: string | null;
}

export function pathOf(view: VenueView): string {
  return `/venues/${view.venue}?${queryOfView(view)}`;
}

/** The same as JSON. */
export function jsonPathOf(view: VenueView): string {
  return `/v1/targets/${view.venue}?${queryOfView(view)}`;
}

function queryOfView({ range, region }: VenueView): string {
  return new URLSearchParams({ range, ...(region !== null && { region }) }).toString();
}
