/** Answers one POST of the Streamable HTTP transport. Nothing is kept from one request to the next. */
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";

export interface PostedMessage {
  /** Only the headers that the transport reads. */
  headers: Headers;
  /** The parsed JSON; undefined: there was none. */
  body: unknown;
  /** Aborted when the client is gone: it may have cancelled the only request, which then has no answer. */
  signal: AbortSignal;
}

export interface McpAnswer {
  status: number;
  /** JSON, or empty. */
  text: string;
}

/**
 * @param mcp answers this message only
 * @returns null if the client went away
 */
export async function answerPost({ headers, body, signal }: PostedMessage, mcp: McpServer): Promise<McpAnswer | null> {
  // an answer is one JSON document: no tool reports progress, so there is nothing to stream
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    await mcp.connect(transport);
    // the address is not used; a Request must have one
    const request = new Request("http://localhost/mcp", { method: "POST", headers });
    const response = await Promise.race([transport.handleRequest(request, { parsedBody: body }), gone(signal)]);
    return response && { status: response.status, text: await response.text() };
  } finally {
    await mcp.close();
  }
}

function gone(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}
