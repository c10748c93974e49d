import type { incidentDetailResponse } from "../../api/schemas/incident.js";
import type { TypeOf } from "../../api/schemas/shapes.js";

export type IncidentDetail = TypeOf<typeof incidentDetailResponse>;

export type DecisionVotes = IncidentDetail["evidence"]["opening"];

/** Names of regions by their ids. One that has left the registry has only its id. */
export type RegionNames = ReadonlyMap<string, string>;
