/** `venuewatch mcp` as an agent's client starts it: the program itself, over pipes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import t from "tap";
import { packagedFile } from "../../../../shared/config/package.js";
import { agentBy } from "../../../support/agent.js";
import { serve } from "../../../support/api.js";
import { migratedDatabase } from "../../../support/database.js";
import { freePort } from "../../../support/free-port.js";
import { troubledBoard } from "../../../support/page-world.js";
import { pythonAgent, pythonMcpMissing } from "../../../support/python-agent.js";
import { until } from "../../../support/until.js";

const cli = packagedFile("dist/server/cli.js");
const database = await migratedDatabase(t);
await troubledBoard(database.pool);

function programAt(url: string) {
  return new StdioClientTransport({
    ...{ command: process.execPath, args: [cli, "mcp", "--url", url], stderr: "pipe" },
    env: getDefaultEnvironment(),
  });
}

/** Sends these lines, closes the input, and returns what came. */
async function piped(url: string, lines: string[]) {
  const child = spawn(process.execPath, [cli, "mcp", "--url", url], { stdio: ["pipe", "pipe", "pipe"] });
  t.teardown(() => child.kill("SIGKILL"));
  const [output, log] = [text(child.stdout), text(child.stderr)];
  // it may end before it has read everything
  child.stdin.on("error", () => {});
  child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  const [code] = (await once(child, "close")) as [number | null];
  const messages = (await output).split("\n").filter((line) => line !== "");
  return { code, messages: messages.map((line) => JSON.parse(line) as Record<string, unknown>), log: await log };
}

void t.test("it answers as the service does over HTTP", async (t) => {
  const { port } = await serve(t, { ...database, baseUrl: "https://elsewhere.example" });
  const url = `http://127.0.0.1:${port}`;
  const agent = await agentBy(t, programAt(url));
  t.match(await agent.ask("is_it_down", { venue: "OKX" }), {
    text: /^"OKX" \(okx\) is degraded, which is not down as a whole/,
    data: { state: "degraded", evidence: { page: `${url}/venues/okx` } },
  });
  t.match(await agent.ask("is_it_down", { venue: "gemini" }), {
    text: /neither up nor down/,
    data: { state: "unknown" },
  });
  t.match((await agent.ask("is_it_down")).text, /^13 of 15 watched venues are up\./);
  t.match(await agent.ask("venue", { venue: "okx" }), { isError: false });
  const { body } = (await agent.ask<{ body: { incidents: unknown[] } }>("incidents", { limit: 1 })).data;
  t.equal(body.incidents.length, 1);
  t.match(await agent.ask("compare", { venues: ["okx", "kraken"] }), { isError: false });
  t.match(await agent.ask("is_it_down", { venue: "okex-2" }), { isError: true, text: /knows nothing about it/ });
  t.match(await agent.ask("incidents", { before: "2026-02-30T00:00:00.000Z" }), {
    isError: true,
    text: /^Invalid arguments of incidents\. .*before: /,
  });
});

void t.test("without the service, everything is unknown", async (t) => {
  const agent = await agentBy(t, programAt(`http://127.0.0.1:${await freePort()}`));
  const { text, data } = await agent.ask("is_it_down", { venue: "okx" });
  t.match(
    text,
    /^Unknown: .*"okx" is up\. This means neither up nor down\. The reason: GET http:\/\/127\.0\.0\.1:\d+\/\S+: expected a connection, got /,
  );
  t.match(data, { state: "unknown", asOf: null });
  for (const [name, given] of [
    ["venue", { venue: "okx" }],
    ["incidents", {}],
    ["compare", { venues: ["okx", "kraken"] }],
  ] as const)
    t.match(await agent.ask(name, given), { isError: true, text: /^Unknown: venuewatch could not answer\./ });
});

void t.test("only messages go to standard output, and any other input is ignored", async (t) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { code, messages, log } = await piped(url, [
    "hello",
    '{"jsonrpc": "2.0", "id": 1, "method": "ping"}',
    "{",
    '{"jsonrpc": "1.0"}',
    '{"jsonrpc": "2.0", "id": 2, "method": "nonsense"}',
    '{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "is_it_down", "arguments": {"venue": "okx"}}}',
  ]);
  t.equal(code, 0, "it ends with its input");
  t.same(messages.map(({ id }) => id).sort(), [1, 2, 3], "after it has answered what was asked before");
  t.match(
    messages.find(({ id }) => id === 3),
    { result: { structuredContent: { state: "unknown" } } },
  );
  t.match(log, /ignored a message of the client .*expected one message of JSON-RPC/);
  t.notMatch(log, /hello/, "nothing that was sent is logged");
});

void t.test("an endless message does not fill the memory", async (t) => {
  const { code, messages } = await piped("http://127.0.0.1:1", ["x".repeat(3_000_000)]);
  t.equal(code, 0);
  t.same(messages, []);
});

void t.test("it ends on a signal, and where its address is wrong", async (t) => {
  const transport = programAt("http://127.0.0.1:1");
  const agent = await agentBy(t, transport);
  const { pid } = transport;
  process.kill(pid!, "SIGTERM");
  await until(() => !isRunning(pid!));
  await t.rejects(agent.client.ping());
  const { code, log } = await piped("nonsense", []);
  t.equal(code, 2);
  t.match(log, /^venuewatch: expected .* where venuewatch runs, got "nonsense"/);
});

void t.test("the Python SDK understands it", { skip: pythonMcpMissing }, async (t) => {
  const { port } = await serve(t, database);
  const url = `http://127.0.0.1:${port}`;
  const answered = await pythonAgent({ command: process.execPath, args: [cli, "mcp", "--url", url] });
  t.match(answered, {
    tools: ["is_it_down", "venue", "incidents", "compare", "transfers"],
    text: /^"OKX" \(okx\) is degraded/,
    data: { state: "degraded" },
    misspelt: true,
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
