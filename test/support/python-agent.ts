/** An agent in Python, by the SDK of that language: a client that shares no code with our server. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

/** What it was told of OKX. */
export interface PythonTold {
  tools: string[];
  /** The first text. */
  text: string;
  data: Record<string, unknown>;
  /** Whether a misspelt venue was an error. */
  misspelt: boolean;
}

/** False, or why tests that need the package are skipped. */
export const pythonMcpMissing: string | false =
  spawnSync("python3", ["-c", "import mcp"]).status !== 0 && "the Python package mcp is missing";

/** Asks by HTTP, or by the standard input and output of a program. */
export async function pythonAgent(where: { url: string } | { command: string; args: string[] }): Promise<PythonTold> {
  const running = spawn("python3", ["-c", script, JSON.stringify(where)], { stdio: ["ignore", "pipe", "pipe"] });
  const [output, errors] = [text(running.stdout), text(running.stderr)];
  const [code] = (await once(running, "close")) as [number];
  if (code !== 0) throw new Error(`the agent in Python ended with ${code}: ${await errors}`);
  return JSON.parse(await output) as PythonTold;
}

const script = `
import asyncio, json, sys
from mcp import Client, StdioServerParameters

async def main(where):
    server = where["url"] if "url" in where else StdioServerParameters(**where)
    async with Client(server) as client:
        tools = await client.list_tools()
        okx = (await client.call_tool("is_it_down", {"venue": "OKX"})).model_dump(by_alias=True)
        misspelt = (await client.call_tool("is_it_down", {"venue": "krakn"})).model_dump(by_alias=True)
    print(json.dumps({
        "tools": [tool.name for tool in tools.tools],
        "text": okx["content"][0]["text"], "data": okx["structuredContent"], "misspelt": misspelt["isError"],
    }))

asyncio.run(main(json.loads(sys.argv[1])))
`;
