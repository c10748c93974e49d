/** What the tools of agents read: bodies of the API, in this process or from a service elsewhere. */
import type { NamedVenue } from "../api/near-venue.js";
import type { incidentsResponse } from "../api/schemas/incident.js";
import type { reliabilityResponse } from "../api/schemas/reliability.js";
import type { TypeOf } from "../api/schemas/shapes.js";
import type { statusResponse } from "../api/schemas/status.js";
import type { exchangeResponse } from "../api/schemas/venue.js";
import type { venueStateResponse } from "../api/schemas/venue-state.js";

export type BoardBody = TypeOf<typeof statusResponse>;
export type VenueStateBody = TypeOf<typeof venueStateResponse>;
export type VenueBody = TypeOf<typeof exchangeResponse>;
export type IncidentsBody = TypeOf<typeof incidentsResponse>;
export type ReliabilityBody = TypeOf<typeof reliabilityResponse>;

/** All methods but `baseUrl` throw NoData when there is no body, whatever the reason. */
export interface AgentSource {
  /** Where links lead, without a slash at the end. */
  baseUrl: string;
  venues(): Promise<readonly KnownVenue[]>;
  /** The venue's present id, for a present or former one; null if no venue has it. */
  presentId(id: string): Promise<string | null>;
  board(): Promise<BoardBody>;
  /**
   * @param id a present one, as for `venue`
   * @param region as it alone sees the venue; null: by quorum
   * @throws BadArgument if there is no such region
   */
  state(id: string, region: string | null): Promise<VenueStateBody>;
  venue(id: string): Promise<VenueBody>;
  /**
   * @param query the parameters of `/v1/incidents`
   * @throws BadArgument if the API refuses them
   */
  incidents(query: URLSearchParams): Promise<IncidentsBody>;
  /** @param days of the window */
  reliability(days: number): Promise<ReliabilityBody>;
}

export type KnownVenue = NamedVenue;

/** There is no answer at present. The message says why, as a part of a sentence. */
export class NoData extends Error {
  override name = "NoData";
}

/** The caller can correct it. The message says what was expected and what came. */
export class BadArgument extends Error {
  override name = "BadArgument";
}
