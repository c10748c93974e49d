/** What the tools of agents read: bodies of the API, in this process or from a service elsewhere. */
import type { incidentsResponse } from "../api/schemas/incident.js";
import type { reliabilityResponse } from "../api/schemas/reliability.js";
import type { state, TypeOf } from "../api/schemas/shapes.js";
import type { statusResponse } from "../api/schemas/status.js";
import type { exchangeResponse } from "../api/schemas/venue.js";
import type { venueStateResponse } from "../api/schemas/venue-state.js";

export type StateWord = TypeOf<typeof state>;
export type BoardBody = TypeOf<typeof statusResponse>;
export type VenueStateBody = TypeOf<typeof venueStateResponse>;
export type VenueBody = TypeOf<typeof exchangeResponse>;
export type IncidentsBody = TypeOf<typeof incidentsResponse>;
export type ReliabilityBody = TypeOf<typeof reliabilityResponse>;

/** Parameters of `/v1/incidents`. */
export interface AskedIncidents {
  venue?: string;
  status?: "open" | "closed" | "all";
  days?: number;
  limit?: number;
  before?: string;
  beforeId?: number;
}

/**
 * All methods throw NoData when there is no body, whatever the reason, and BadArgument where the API refuses a
 * parameter.
 */
export interface AgentSource {
  /** Where links lead, without a slash at the end. */
  baseUrl: string;
  status(): Promise<BoardBody>;
  /**
   * @param id a present or a former one
   * @param region as it alone sees the venue; null: by quorum
   * @returns null if no venue has the id
   */
  state(id: string, region: string | null): Promise<VenueStateBody | null>;
  /** @param region from which the measurements are shown; null: the usual one */
  venue(id: string, region: string | null): Promise<VenueBody>;
  incidents(asked: AskedIncidents): Promise<IncidentsBody>;
  /** @param days of the window */
  reliability(days: number): Promise<ReliabilityBody>;
}

/** There is no answer at present. The message says why, as a part of a sentence. */
export class NoData extends Error {
  override name = "NoData";
}

/** The caller can correct it. The message says what was expected and what came. */
export class BadArgument extends Error {
  override name = "BadArgument";
}
