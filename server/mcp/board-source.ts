/** The tools' data in the web program: from the snapshots that its pages and its API share, at the same cost. */
import type { Registry } from "../../shared/registry/registry.js";
import type { Boards } from "../api/boards.js";
import { incidentsOf, incidentsReader } from "../api/incidents.js";
import { parameterReader } from "../api/parameters.js";
import { Problem } from "../api/problem.js";
import { incidentsResponse } from "../api/schemas/incident.js";
import { reliabilityResponse } from "../api/schemas/reliability.js";
import type { Schema, TypeOf } from "../api/schemas/shapes.js";
import { statusResponse } from "../api/schemas/status.js";
import { exchangeResponse } from "../api/schemas/venue.js";
import { venueStateResponse } from "../api/schemas/venue-state.js";
import type { Snapshot, Snapshots } from "../api/snapshot.js";
import { namedVenues } from "../api/near-venue.js";
import { presentIds } from "../api/venue-ids.js";
import { venueStateParameters } from "../api/venue-state.js";
import type { Windows } from "../api/windows.js";
import { dataOf } from "../pages/snapshot-data.js";
import { type AgentSource, BadArgument, NoData } from "./agent-source.js";

export interface BoardSourceOptions {
  registry: Registry;
  baseUrl: string;
  boards: Boards;
  windows: Windows;
  incidents: Snapshots;
  /** Logs an error of the database or of our own. */
  onFault: (error: unknown) => void;
}

export function boardSource(options: BoardSourceOptions): AgentSource {
  const { registry, baseUrl, boards, windows, incidents, onFault } = options;
  const ids = presentIds(registry);
  const venues = namedVenues(registry);
  const readQuery = incidentsReader(registry);
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
    venues: () => Promise.resolve(venues),
    presentId: (id) => Promise.resolve(ids.get(id) ?? null),
    board: () => read(statusResponse, () => boards.status(null)),
    async state(id, asked) {
      const query = new URLSearchParams(asked === null ? {} : { region: asked });
      const { region } = checked(() => readState(query));
      return read(venueStateResponse, () => boards.state(id, region));
    },
    venue: (id) => read(exchangeResponse, () => boards.venue(id, "24h", boards.usualRegion)),
    async incidents(query) {
      const page = checked(() => readQuery(query));
      return read(incidentsResponse, () => incidentsOf(page, incidents));
    },
    reliability: (days) => read(reliabilityResponse, () => windows.reliability(days, null)),
  };
}

/** @throws BadArgument where the API would answer 400 */
function checked<Value>(read: () => Value): Value {
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
