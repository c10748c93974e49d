/** What the tools of agents read: bodies of the API, in this process or from a service elsewhere. */
import type { Registry } from "../../../shared/registry/registry.js";
import { parameterReader } from "../api/parameters.js";
import { Problem } from "../api/problem.js";
import type { Schema, state, TypeOf } from "../api/shapes.js";
import { presentIds } from "../api/venue-ids.js";
import { incidentsOf, incidentsReader, incidentsResponse } from "../board/incidents.js";
import { reliabilityResponse } from "../board/reliability.js";
import { type Boards, type Snapshot, type Snapshots, type Windows, dataOf } from "../board/snapshot.js";
import { statusResponse } from "../board/status.js";
import { venueStateParameters, venueStateResponse } from "../board/venue-state.js";
import { transfersOf, transfersParameters, transfersResponse } from "../board/transfers.js";
import { exchangeResponse } from "../board/venue.js";

export type StateName = TypeOf<typeof state>;
export type BoardBody = TypeOf<typeof statusResponse>;
export type VenueStateBody = TypeOf<typeof venueStateResponse>;
export type VenueBody = TypeOf<typeof exchangeResponse>;
export type IncidentsBody = TypeOf<typeof incidentsResponse>;
export type ReliabilityBody = TypeOf<typeof reliabilityResponse>;
export type TransfersBody = TypeOf<typeof transfersResponse>;

/** Parameters of `/v1/incidents`. */
export interface AskedIncidents {
  venue?: string;
  status?: "open" | "closed" | "all";
  days?: number;
  limit?: number;
  before?: string;
  beforeId?: number;
}

/** Parameters of `/v1/transfers`. */
export interface AskedTransfers {
  venue?: string;
  asset?: string;
  paused?: "true" | "false";
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
  transfers(asked: AskedTransfers): Promise<TransfersBody>;
}

/** There is no answer at present. The message says why, as a part of a sentence. */
export class NoData extends Error {
  override name = "NoData";
}

/** The caller can correct it. The message says what was expected and what came. */
export class BadArgument extends Error {
  override name = "BadArgument";
}

// The tools' data in the web program: from the snapshots that its pages and its API share, at the same cost.

export interface BoardSourceOptions {
  registry: Registry;
  baseUrl: string;
  boards: Boards;
  windows: Windows;
  incidents: Snapshots;
  transfers: Snapshots;
  /** Logs an error of the database or of our own. */
  onFault: (error: unknown) => void;
}

export function boardSource(options: BoardSourceOptions): AgentSource {
  const { registry, baseUrl, boards, windows, incidents, transfers, onFault } = options;
  const ids = presentIds(registry);
  const readQuery = incidentsReader(registry);
  const readTransfers = parameterReader(transfersParameters(registry));
  const readState = parameterReader(venueStateParameters(registry));

  async function read<Described extends Schema>(
    schema: Described,
    ask: () => Promise<Snapshot | null>,
  ): Promise<TypeOf<Described>> {
    const snapshot = await ask().catch((error: unknown) => {
      onFault(error);
      throw new NoData("its data cannot be read at the moment", { cause: error });
    });
    if (snapshot === null) throw new NoData("it has not measured it yet");
    return dataOf(schema, snapshot);
  }

  return {
    baseUrl,
    status: () => read(statusResponse, () => boards.status(null)),
    async state(id, asked) {
      const present = ids.get(id);
      if (present === undefined) return null;
      const { region } = checkedArguments(() =>
        readState(new URLSearchParams(asked === null ? {} : { region: asked })),
      );
      return read(venueStateResponse, () => boards.state(present, region));
    },
    venue: (id, region) => read(exchangeResponse, () => boards.venue(id, "24h", region ?? boards.usualRegion)),
    async incidents(asked) {
      const given = Object.entries(asked).map(([name, value]) => [name, String(value)]);
      const page = checkedArguments(() => readQuery(new URLSearchParams(given)));
      return read(incidentsResponse, () => incidentsOf(page, incidents));
    },
    reliability: (days) => read(reliabilityResponse, () => windows.reliability(days, null)),
    async transfers(asked) {
      const filter = checkedArguments(() => readTransfers(new URLSearchParams({ ...asked })));
      return read(transfersResponse, () => transfersOf(filter, boards, transfers));
    },
  };
}

/** @throws BadArgument where the API would answer 400 */
function checkedArguments<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { errors = [] } = error.more;
    throw new BadArgument(errors.map(({ parameter, message }) => `${parameter}: ${message}`).join(". "), {
      cause: error,
    });
  }
}
