/** An agent's view of the service: the official SDK's client, and what each tool answers it. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Test } from "tap";
import { closed } from "./closed-schema.js";

export interface Told<Data = Record<string, unknown>> {
  /** The first text: sentences. */
  text: string;
  isError: boolean;
  /** Null: it failed. */
  data: Data;
}

export interface Agent {
  client: Client;
  tools: Tool[];
  /**
   * Calls a tool.
   *
   * @throws Error if what it answers is not exactly what it describes, or differs between its two forms
   */
  ask<Data = Record<string, unknown>>(name: string, given?: Record<string, unknown>): Promise<Told<Data>>;
}

/** Connects to `/mcp` until the test ends. */
export function agentOn(t: Test, port: number, path = "/mcp"): Promise<Agent> {
  return agentBy(t, new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}${path}`)));
}

export async function agentBy(t: Test, transport: Transport): Promise<Agent> {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  t.teardown(() => client.close());
  const { tools } = await client.listTools();
  const ajv = new Ajv2020({ strictSchema: false, formats: { "date-time": instant, date: /^\d{4}-\d\d-\d\d$/ } });
  const checks = new Map(tools.map(({ name, outputSchema }) => [name, ajv.compile(closed(outputSchema!))]));

  return {
    client,
    tools,
    async ask<Data>(name: string, given: Record<string, unknown> = {}) {
      const {
        content,
        structuredContent,
        isError = false,
      } = (await client.callTool({
        name,
        arguments: given,
      })) as CallToolResult;
      const [first, second] = content.map((part) => (part.type === "text" ? part.text : ""));
      if (isError !== (structuredContent === undefined))
        throw new Error(`${name}: an error with data, or none without`);
      if (!isError) {
        const check = checks.get(name)!;
        if (!check(structuredContent)) throw new Error(`${name}: ${ajv.errorsText(check.errors)}: ${first}`);
        if (second !== JSON.stringify(structuredContent)) throw new Error(`${name}: the two forms differ`);
      }
      return { text: first!, isError, data: (structuredContent ?? null) as Data };
    },
  };
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
