/** A server with the tools, resources and prompts that the public conformance tests expect, behind our own route. */
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  CompleteRequestSchema,
  type GetPromptResult,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import express from "express";
import type { Test } from "tap";
import { answerErrors } from "../../server/api/problem.js";
import { addMcpRoute } from "../../server/mcp/mcp-route.js";
import { listen } from "../../shared/config/listen.js";
import { makeLog } from "../../shared/log/log.js";

/** Serves it until the test ends, and returns its address. */
export async function conformanceServer(t: Test): Promise<string> {
  const app = express();
  const log = makeLog("test", "error");
  addMcpRoute(app, {
    makeServer: () => Promise.resolve(fixtureServer()),
    ...{ baseUrl: "https://status.example.org", limit: null },
    answerErrors: (send) => answerErrors(log, send),
  });
  app.use(answerErrors(log));
  const server = createServer(app);
  t.teardown(() => server.close());
  return `http://127.0.0.1:${await listen(server, 0, "127.0.0.1", "PORT")}/mcp`;
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const silence = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const image = { type: "image", data: pixel, mimeType: "image/png" } as const;
const embedded = (uri: string) =>
  ({ type: "resource", resource: { uri, mimeType: "text/plain", text: "A text." } }) as const;

const tools: Record<string, CallToolResult> = {
  test_simple_text: { content: [{ type: "text", text: "A text." }] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: "audio", data: silence, mimeType: "audio/wav" }] },
  test_embedded_resource: { content: [embedded("test://embedded-resource")] },
  test_multiple_content_types: {
    content: [{ type: "text", text: "A text." }, image, embedded("test://mixed-content-resource")],
  },
  test_error_handling: { isError: true, content: [{ type: "text", text: "An error." }] },
};

/** With the parts of JSON Schema 2020-12 that servers are known to lose. */
const newerSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
  properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
  additionalProperties: false,
} as const;

const resources: Record<string, { mimeType: string; text?: string; blob?: string }> = {
  "test://static-text": { mimeType: "text/plain", text: "A text." },
  "test://static-binary": { mimeType: "image/png", blob: pixel },
  "test://template/123/data": { mimeType: "application/json", text: '{"id":"123"}' },
};

const prompts: Record<string, (given: Record<string, string>) => GetPromptResult["messages"][number]["content"][]> = {
  test_simple_prompt: () => [{ type: "text", text: "A prompt." }],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [{ type: "text", text: `With ${arg1} and ${arg2}.` }],
  test_prompt_with_embedded_resource: ({ resourceUri }) => [embedded(resourceUri!), { type: "text", text: "A text." }],
  test_prompt_with_image: () => [image, { type: "text", text: "A text." }],
};

function fixtureServer(): McpServer {
  const mcp = new McpServer(
    { name: "fixtures", version: "1.0.0" },
    { capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} } },
  );
  const { server } = mcp;
  const plain = { type: "object" } as const;
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      ...Object.keys(tools).map((name) => ({ name, description: "A tool.", inputSchema: plain })),
      { name: "json_schema_2020_12_tool", description: "A tool.", inputSchema: newerSchema },
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => tools[params.name]!);
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: Object.entries(resources).map(([uri, { mimeType }]) => ({
      uri,
      name: uri,
      description: "One.",
      mimeType,
    })),
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const { mimeType, text, blob } = resources[uri]!;
    return { contents: [text === undefined ? { uri, mimeType, blob: blob! } : { uri, mimeType, text }] };
  });
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: Object.keys(prompts).map((name) => ({ name, description: "A prompt." })),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => ({
    messages: prompts[params.name]!(params.arguments ?? {}).map((content) => ({ role: "user", content })),
  }));
  server.setRequestHandler(CompleteRequestSchema, () => ({ completion: { values: ["one"], total: 1 } }));
  return mcp;
}
