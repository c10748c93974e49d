import { VenuewatchError } from "@venuewatch/client";
import { makeLog } from "../../shared/log/log.js";
import { stackOf } from "../../shared/process/user-error.js";
import { runToEnd } from "../process/lifecycle.js";
import { type AgentSource, BadArgument, NoData } from "../web/agents/agent-source.js";
import { quotedError } from "../web/agents/quoted.js";
import type { Given, Options } from "./command.js";
import { type RemoteService, serviceAt, urlOption } from "./service.js";

export const help = `Answers agents of language models over the Model Context Protocol, on standard input and output:
whether a venue is down, its details, incidents, and comparisons. It asks a running venuewatch through its public API,
and only reads. Clients start it themselves; docs/agents.md says how. It ends when its input ends. The log goes to
standard error.`;

export const options = { url: urlOption } satisfies Options;

export async function run({ values }: Given): Promise<void> {
  const { service, settings } = serviceAt(values["url"], { program: "mcp" });
  const log = makeLog("mcp", settings.logLevel);
  await runToEnd(log, async (life) => {
    life.onClose("connections to the service", service.close);
    const source = serviceSource(service);
    // loaded only here: the SDK takes 0.4 s, and an error about wrong options need not wait for it
    const { answerStdio } = await import("../web/agents/agent-server.js");
    log.info("answering on standard input and output", { service: service.url });
    await answerStdio({
      ...{ source, input: process.stdin, output: process.stdout },
      onBug: (error) => log.error("an answer failed", { stack: stackOf(error) }),
      onIgnored: (fault) => log.warn("ignored a message of the client", { fault }),
    });
  });
}

// The tools' data from a venuewatch that runs elsewhere, through its public API.

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
    transfers: (asked) => orFailed(service.transfers(asked)),
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
