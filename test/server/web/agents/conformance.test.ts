/** The public conformance tests of the protocol against `/mcp`, and an agent that was not written here. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
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
import t, { type Test } from "tap";
import { answerErrors } from "../../../../server/web/api/problem.js";
import { addMcpRoute } from "../../../../server/web/agents/mcp-route.js";
import { listen } from "../../../../server/process/ports.js";
import { makeLog } from "../../../../shared/log/log.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { troubledBoard } from "../../../support/page-world.js";
import { pythonAgent, pythonMcpMissing } from "../../../support/python-agent.js";

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

/** The program of the npm package @modelcontextprotocol/conformance. */
const suite = "conformance";
const noSuite = spawnSync("sh", ["-c", `command -v ${suite}`]).status !== 0 && `${suite} is not installed`;

/** What every server does. */
const ofEveryServer = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"];

/** They call tools, resources and prompts that only a server for these tests has: ours has no use for them. */
const ofFixtures = [
  ...["tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource"],
  ...["tools-call-mixed-content", "tools-call-error", "json-schema-2020-12"],
  ...["resources-list", "resources-read-text", "resources-read-binary", "resources-templates-read"],
  ...["prompts-list", "prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource"],
  ...["prompts-get-with-image", "completion-complete", "logging-set-level"],
];

/**
 * They need a server that sends messages of its own before its answer, or without a question, and remembers who its
 * clients are. Ours answers each question by one body and remembers nothing: there is nothing to tell in between.
 */
const ofStreams = [
  ...["tools-call-with-logging", "tools-call-with-progress", "tools-call-sampling", "tools-call-elicitation"],
  ...["elicitation-sep1034-defaults", "elicitation-sep1330-enums"],
  ...["resources-subscribe", "resources-unsubscribe"],
];

/** They warn that there is no session, and check little or nothing without one. */
const ofSessions = ["server-sse-polling", "server-sse-multiple-streams"];

void t.test("our server is what the protocol says", async (t) => {
  const database = await migratedDatabase(t);
  await troubledBoard(database.pool);
  const api = await serve(t, database);
  await t.test("the public suite", { skip: noSuite }, (t) =>
    conforms(t, `http://127.0.0.1:${api.port}/mcp`, [...ofFixtures, ...ofStreams]),
  );

  await t.test("the Python SDK asks it", { skip: pythonMcpMissing }, async (t) => {
    const answered = await pythonAgent({ url: `http://127.0.0.1:${api.port}/mcp` });
    t.match(answered, {
      tools: ["is_it_down", "venue", "incidents", "compare", "transfers"],
      text: /^"OKX" \(okx\) is degraded, which is not down as a whole/,
      data: { state: "degraded", body: { stale: false } },
      misspelt: true,
    });
  });
  t.strictSame(api.logged, []);
});

void t.test("the same transport carries all that servers can answer", { skip: noSuite }, async (t) => {
  await conforms(t, await conformanceServer(t), ofStreams);
});

/** Runs all scenarios. Exactly these must fail, and all others pass. */
async function conforms(t: Test, url: string, failing: string[]): Promise<void> {
  const folder = t.testdir({});
  const baseline = join(folder, "expected.yml");
  // JSON is YAML
  writeFileSync(baseline, JSON.stringify({ server: [...failing, ...ofSessions] }));
  const options = ["--url", url, "--suite", "all", "--expected-failures", baseline];
  const env = { ...process.env, NODE_OPTIONS: `--import=${alsoOnNode20()}` };
  const run = spawn(suite, ["server", ...options], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const [output, errors] = [text(run.stdout), text(run.stderr)];
  const [code] = (await once(run, "close")) as [number];
  const report = plain(await output);
  t.equal(code, 0, report.split("=== SUMMARY ===").at(-1)! + plain(await errors));
  const ran = [...report.matchAll(/^=== Running scenario: (\S+) ===$/gm)].map(([, name]) => name!);
  const known = [...ofEveryServer, ...ofFixtures, ...ofStreams, ...ofSessions];
  t.strictSame(ran.sort(), known.sort(), "each scenario of the suite is accounted for");
}

/**
 * The suite's program imports `globSync` of `fs`, which Node 20 does not have, for another of its commands. Returns a
 * module that lets it start.
 */
function alsoOnNode20(): string {
  const moduleOf = (source: string) => `data:text/javascript,${encodeURIComponent(source)}`;
  const fs = moduleOf(`
    export * from "node:fs";
    export { default } from "node:fs";
    export function globSync() { throw new Error("expected a newer Node"); }
  `);
  const hooks = moduleOf(`
    export function resolve(name, context, next) {
      const isOfSuite = name === "fs" && context.parentURL?.includes("/@modelcontextprotocol/conformance/");
      return isOfSuite ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(name, context);
    }
  `);
  return moduleOf(`import { register } from "node:module"; register(${JSON.stringify(hooks)});`);
}

/** Without colours. */
function plain(output: string): string {
  // eslint-disable-next-line no-control-regex
  return output.replace(/\u001b\[\d+m/g, "");
}

/**
 * Serves the tools, resources and prompts that the public conformance tests expect, behind our own route, until the
 * test ends. Returns the address.
 */
async function conformanceServer(t: Test): Promise<string> {
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
