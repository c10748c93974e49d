/** Answers the messages on standard input until it ends. */
import type { Readable, Writable } from "node:stream";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { type AgentServerOptions, makeAgentServer } from "./agent-server.js";

export interface StdioOptions extends AgentServerOptions {
  input: Readable;
  output: Writable;
  /** Receives a sentence that says what was wrong with what the client sent. Its content is not repeated. */
  onIgnored: (fault: string) => void;
}

/** Far more than a question needs. */
const mostBytes = 1024 * 1024;

/** Resolves when the client has closed the input and has all answers, or no longer reads them. */
export async function answerStdio({ input, output, onIgnored, ...options }: StdioOptions): Promise<void> {
  const mcp = makeAgentServer(options);
  const transport = new StdioServerTransport(input, output, { maxBufferSize: mostBytes });
  await mcp.connect(transport);
  const answered = whenAnswered(transport);
  mcp.server.onerror = (error) => {
    if (isOfClient(error)) onIgnored(`expected one message of JSON-RPC 2.0 a line, of at most ${mostBytes} bytes`);
    else options.onBug(error);
  };
  await Promise.race([
    new Promise<void>((resolve) => input.on("end", resolve).on("close", resolve)).then(answered),
    new Promise<void>((resolve) => output.on("error", () => resolve())),
    // after a message that is too long, whose end cannot be found
    new Promise<void>((resolve) => (mcp.server.onclose = resolve)),
  ]);
  await mcp.close();
}

/**
 * The client's fault: a line that is not JSON, not a message or too long, or a message that belongs to none of ours.
 */
function isOfClient({ name, message }: Error): boolean {
  return name === "SyntaxError" || name === "ZodError" || /^(ReadBuffer|Unknown message|Received a)/.test(message);
}

/** Follows which requests are open. Returns a function that resolves when none is. */
function whenAnswered(transport: StdioServerTransport): () => Promise<void> {
  const open = new Set<string | number>();
  let onNone = () => {};
  const end = (id: string | number | undefined) => {
    if (id !== undefined) open.delete(id);
    if (open.size === 0) onNone();
  };
  const receive = transport.onmessage!.bind(transport);
  transport.onmessage = (message: JSONRPCMessage) => {
    if ("id" in message && "method" in message) open.add(message.id);
    receive(message);
    // it has no answer
    if ("method" in message && message.method === "notifications/cancelled")
      end(message.params?.["requestId"] as string | number | undefined);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if (!("method" in message)) end(message.id);
  };
  return () =>
    new Promise((resolve) => {
      onNone = resolve;
      end(undefined);
    });
}
