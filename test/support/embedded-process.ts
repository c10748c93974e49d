/** Hosts the embedded database in a separate process, for tests that kill it. Arguments: the data directory. */
import { startEmbedded } from "../../server/database/embedded.js";
import { makeLog } from "../../shared/log/log.js";

const [dataDir = ""] = process.argv.slice(2);

try {
  const embedded = await startEmbedded({ dataDir, port: 0, log: makeLog("database") });
  process.stdout.write(`${embedded.url}\n`);
  process.once("SIGTERM", () => void embedded.close());
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
