import { VenuewatchError } from "@venuewatch/client";
import type { VenueBody, VenueStateBody } from "../../mcp/agent-source.js";
import { quotedError, quotedTexts } from "../../mcp/quoted.js";
import type { RemoteService } from "../../remote/service.js";
import type { Quorum } from "./evidence.js";
import { ofTheService } from "./verdict.js";

export interface Asked {
  quorum: Quorum;
  /** Whether the service does not watch the venue; null: it did not say. */
  isUnwatched: boolean | null;
  isAway: boolean;
  /** Its typical REST latency in the regions, milliseconds; null: not known. */
  typicalMs: number | null;
}

/** What the service says of a venue. Never rejects because of the service. */
export async function askService(service: RemoteService, venue: string): Promise<Asked> {
  const [state, seen] = await Promise.all([orError(service.state(venue)), orError(service.venue(venue))]);
  if (state instanceof VenuewatchError) {
    const isUnwatched = state.status === 404 && state.problem !== null ? true : null;
    const reason = isUnwatched ? `the service at ${service.url} does not watch it` : quotedError(state);
    return { quorum: { kind: "silent", reason }, isUnwatched, isAway: state.status === null, typicalMs: null };
  }
  // without them, a vote that is unknown counts among those that do not agree
  const regions = seen instanceof VenuewatchError ? null : seen;
  const quorum = quorumOf(quotedTexts(state), regions);
  return { quorum, isUnwatched: false, isAway: false, typicalMs: regions?.typicalMs ?? null };
}

async function orError<Body>(reading: Promise<Body>): Promise<Body | VenuewatchError> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof VenuewatchError) return error;
    throw error;
  }
}

function quorumOf(venue: VenueStateBody, seen: VenueBody | null): Quorum {
  const { state, since, components, stale, ageSeconds } = venue;
  if (stale) {
    const age = ageSeconds === null ? "" : `for ${ageSeconds} s`;
    return { kind: "silent", reason: `the service has decided nothing ${age || "yet"}, so its state is old` };
  }
  if (state === "unknown") return { kind: "silent", reason: unknownText(components) };
  const incidents = components.flatMap(({ incident }) => incident ?? []);
  return { kind: "confirmed", state, since, components, dissenting: dissentingIn(seen), incidents };
}

function unknownText(components: VenueStateBody["components"]): string {
  const [because] = components.flatMap(({ unknownBecause }) => unknownBecause ?? []);
  return (because && ofTheService(because.reason, "it")) ?? "the service's regions have too little evidence";
}

function dissentingIn(seen: VenueBody | null): string[] | null {
  if (seen === null) return null;
  const voters = seen.regions.compare.filter(({ reporting, impaired }) => reporting && !impaired);
  return voters.filter(({ state }) => state === "outage" || state === "degraded").map(({ region }) => region);
}
