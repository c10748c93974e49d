import { readRegions, readVenue, type RemoteRegions, type RemoteVenue } from "../../remote/state-bodies.js";
import type { RemoteService } from "../../remote/service.js";
import { ServiceError, ServiceRefusal, ServiceUnreachable } from "../../remote/service-errors.js";
import type { Quorum } from "./evidence.js";
import { ofTheService } from "./verdict-text.js";

export interface Asked {
  quorum: Quorum;
  /** Components that the venue refuses to the place of the service. */
  refusedToService: readonly string[];
  /** Whether the service does not watch the venue; null: it did not say. */
  isUnwatched: boolean | null;
  isAway: boolean;
  /** Its typical REST latency in the regions, milliseconds; null: not known. */
  typicalMs: number | null;
}

/** What the service says of a venue. Never rejects because of the service. */
export async function askService(service: RemoteService, venue: string): Promise<Asked> {
  const [state, regions] = await Promise.all([
    orError(readVenue(service, venue)),
    orError(readRegions(service, venue)),
  ]);
  if (state instanceof ServiceError) {
    const isUnwatched = state instanceof ServiceRefusal && state.status === 404 ? true : null;
    const reason = isUnwatched ? `the service at ${service.url} does not watch it` : state.message;
    const isAway = state instanceof ServiceUnreachable;
    return { quorum: { kind: "silent", reason }, refusedToService: [], isUnwatched, isAway, typicalMs: null };
  }
  // without them, a vote that is unknown counts among those that do not agree
  const seen = regions instanceof ServiceError ? null : regions;
  const refusedToService = state.components
    .filter(({ unknownBecause }) => unknownBecause?.reason === "blocked")
    .map(({ component }) => component);
  return {
    ...{ quorum: quorumOf(state, seen), refusedToService },
    ...{ isUnwatched: false, isAway: false, typicalMs: seen?.typicalMs ?? null },
  };
}

async function orError<Body>(reading: Promise<Body>): Promise<Body | ServiceError> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

function quorumOf(venue: RemoteVenue, seen: RemoteRegions | null): Quorum {
  const { state, since, components, stale, ageSeconds } = venue;
  if (stale) {
    const age = ageSeconds === null ? "" : `for ${ageSeconds} s`;
    return { kind: "silent", reason: `the service has decided nothing ${age || "yet"}, so its state is old` };
  }
  if (state === "unknown") return { kind: "silent", reason: unknownText(components) };
  const incidents = components.flatMap(({ incident }) => incident ?? []);
  return { kind: "confirmed", state, since, components, dissenting: dissentingIn(seen), incidents };
}

function unknownText(components: RemoteVenue["components"]): string {
  const [because] = components.flatMap(({ unknownBecause }) => unknownBecause ?? []);
  return because ? ofTheService[because.reason]("it") : "the service's regions have too little evidence";
}

function dissentingIn(seen: RemoteRegions | null): string[] | null {
  if (seen === null) return null;
  const voters = seen.regions.compare.filter(({ reporting, impaired }) => reporting && !impaired);
  return voters.filter(({ state }) => state === "outage" || state === "degraded").map(({ region }) => region);
}
