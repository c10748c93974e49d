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
    status: () => read(statusResponse, () => boards.status(null)),
    async state(id, asked) {
      const present = ids.get(id);
      if (present === undefined) return null;
      const { region } = checked(() => readState(new URLSearchParams(asked === null ? {} : { region: asked })));
      return read(venueStateResponse, () => boards.state(present, region));
    },
    venue: (id, region) => read(exchangeResponse, () => boards.venue(id, "24h", region ?? boards.usualRegion)),
    async incidents(asked) {
      const given = Object.entries(asked).map(([name, value]) => [name, String(value)]);
      const page = checked(() => readQuery(new URLSearchParams(given)));
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
