import type { Given, Options } from "../cli/command.js";
import { serviceSource } from "../mcp/service-source.js";
import { runToEnd } from "../process/lifecycle.js";
import { makeLog } from "../../shared/log/log.js";
import { stackOf } from "../../shared/process/user-error.js";
import { serviceAt, url } from "./service-option.js";

export const help = `Answers agents of language models over the Model Context Protocol, on standard input and output:
whether a venue is down, its details, incidents, and comparisons. It asks a running venuewatch through its public API,
and only reads. Clients start it themselves; docs/agents.md says how. It ends when its input ends. The log goes to
standard error.`;

export const options = { url } satisfies Options;

export async function run({ values }: Given): Promise<void> {
  const { service, settings } = serviceAt(values["url"], { program: "mcp" });
  const log = makeLog("mcp", settings.logLevel);
  await runToEnd(log, async (life) => {
    life.onClose("connections to the service", service.close);
    const source = serviceSource(service);
    // loaded only here: the SDK takes 0.4 s, and an error about wrong options need not wait for it
    const { answerStdio } = await import("../mcp/answer-stdio.js");
    log.info("answering on standard input and output", { service: service.url });
    await answerStdio({
      ...{ source, input: process.stdin, output: process.stdout },
      onBug: (error) => log.error("an answer failed", { stack: stackOf(error) }),
      onIgnored: (fault) => log.warn("ignored a message of the client", { fault }),
    });
  });
}
