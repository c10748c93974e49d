/** Runs one call of a tool: whatever happens, the result is one that a model cannot take for good news. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { type AgentSource, BadArgument, NoData } from "./agent-source.js";
import { askedWords } from "./time-words.js";
import type { AgentTool } from "./tool.js";

/** @param onBug receives an error that is ours; the client gets no detail of it */
export async function callTool(
  tool: AgentTool,
  given: unknown,
  source: AgentSource,
  onBug: (error: unknown) => void,
): Promise<CallToolResult> {
  try {
    const { text, data } = await tool.answer(given, source);
    return {
      content: [
        { type: "text", text },
        // for clients that do not know structured content
        { type: "text", text: JSON.stringify(data) },
      ],
      structuredContent: data as Record<string, unknown>,
    };
  } catch (error) {
    if (error instanceof BadArgument) return failed(`Invalid arguments of ${tool.name}. ${error.message}`, source);
    if (error instanceof NoData)
      return failed(`${noData} The reason: ${error.message}. Try again in a minute.`, source);
    onBug(error);
    return failed(`${noData} The reason: an internal error, which was logged.`, source);
  }
}

const noData =
  "Unknown: venuewatch could not answer. This says nothing about any venue, neither that it is up nor that it is down.";

function failed(text: string, { baseUrl }: AgentSource): CallToolResult {
  return { content: [{ type: "text", text: `${text} ${askedWords(baseUrl)}` }], isError: true };
}
