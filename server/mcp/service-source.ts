/** The tools' data from a venuewatch that runs elsewhere, through its public API. */
import { VenuewatchError } from "@venuewatch/client";
import type { RemoteService } from "../remote/service.js";
import { type AgentSource, BadArgument, NoData } from "./agent-source.js";
import { quotedError } from "./quoted.js";

export function serviceSource(service: RemoteService): AgentSource {
  const inRegion = (region: string | null) => (region === null ? {} : { region });
  return {
    baseUrl: service.url,
    status: () => orFailed(service.status()),
    async state(id, region) {
      try {
        return await orFailed(service.state(id, inRegion(region)));
      } catch (error) {
        const { cause } = error as Error;
        if (cause instanceof VenuewatchError && cause.status === 404 && cause.problem !== null) return null;
        throw error;
      }
    },
    venue: (id, region) => orFailed(service.venue(id, inRegion(region))),
    incidents: (asked) => orFailed(service.incidents(asked)),
    reliability: (days) => orFailed(service.reliability({ days })),
  };
}

async function orFailed<Body>(reading: Promise<Body>): Promise<Body> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof VenuewatchError)) throw error;
    const Failure = error.status === 400 && error.problem !== null ? BadArgument : NoData;
    throw new Failure(quotedError(error), { cause: error });
  }
}
