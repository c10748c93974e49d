import { embeddedUrl, readSettings } from "../../shared/config/settings.js";
import { makeLog } from "../../shared/log/log.js";
import { analystRole, startEmbedded } from "../database/embedded.js";
import { makeDataDir } from "../process/all-programs.js";
import { runUntilStopped } from "../process/lifecycle.js";
import { embeddedPort, requirePorts } from "../process/ports.js";

export const help = `Hosts the embedded TimescaleDB in DATA_DIR, on the loopback address at EMBEDDED_PORT, in
PostgreSQL's protocol. Only one process at a time can use a data directory. It never calls fsync: see
docs/embedded-database.md. It requires passwords, which the first start writes into DATA_DIR: the owner's into
database.password, the read-only analyst's into vw_analyst.pgpass.`;

export async function run(): Promise<void> {
  const settings = readSettings();
  const { dataDir, logLevel } = settings;
  await requirePorts([embeddedPort(settings)]);
  const log = makeLog("database", logLevel);
  await runUntilStopped(log, async (life) => {
    await makeDataDir(dataDir);
    const database = await startEmbedded({
      ...{ dataDir, port: settings.embeddedPort, log },
      logins: [analystRole],
    });
    life.onClose("embedded database", database.close);
    // a crash rejects this promise; it is not awaited, so the uncaught error ends the program
    void database.failed;
    return embeddedUrl(database.port);
  });
}
