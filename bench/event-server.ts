/**
 * A web program in a process of its own, or with `bare` instead of the database's address a server that answers every
 * request with the head of an event stream. Reports its port, and its memory when asked.
 */
import { createServer } from "node:http";
import { connectionLimits } from "../server/web/api/client-limits.js";
import { startWeb } from "../server/web/web.js";
import { listen } from "../server/process/ports.js";
import { packagedFile } from "../shared/config/package.js";
import { openPool } from "../shared/database/pool.js";
import { makeLog } from "../shared/log/log.js";
import { loadRegistry } from "../shared/registry/load-registry.js";

const database = process.argv[2]!;

process.send!({ port: database === "bare" ? await startBare() : await startOurs() });
process.on("message", () => process.send!(process.memoryUsage.rss()));

async function startOurs(): Promise<number> {
  const log = makeLog("web", "warn");
  const { port } = await startWeb({
    pool: openPool(database, { applicationName: "web", log }),
    registry: await loadRegistry(packagedFile("registry/exchanges.json")),
    ...{ port: 0, host: "127.0.0.1", rateLimit: 0, trustProxy: [], log },
    ...{ baseUrl: "http://localhost", siteUrl: "http://localhost" },
    // all listeners of a benchmark have one address
    streamLimits: { perAddress: 100_000, total: 100_000 },
    connectionLimits: { ...connectionLimits, perAddress: 100_000 },
  });
  return port;
}

function startBare(): Promise<number> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" }).write("id: 0\nevent: start\ndata: {}\n\n");
  });
  return listen(server, 0, "127.0.0.1", "PORT");
}
