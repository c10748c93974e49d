/**
 * Runs a core as a separate process, for tests that kill and freeze it. Arguments: the database's URL; rules and pace
 * as JSON.
 */
import { openPool } from "../../shared/database/pool.js";
import { type EngineOptions, startEngine } from "../../server/core/engine/leader.js";
import { makeLog } from "../../shared/log/log.js";

const [url = "", options = "{}"] = process.argv.slice(2);
const log = makeLog("core");
const pool = openPool(url, { applicationName: "core", log });
const leasePool = openPool(url, { applicationName: "core lease", log });
const { rules, pace } = JSON.parse(options) as Pick<EngineOptions, "rules" | "pace">;
const core = startEngine({ pool, leasePool, log, rules, pace });
process.once("SIGTERM", () => void stop());

async function stop(): Promise<void> {
  await core.close();
  await Promise.all([pool.close(), leasePool.close()]);
  process.exit();
}
