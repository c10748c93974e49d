/** The directory of a migrated database, of which each simulation copies its own. Creating one takes seconds. */
import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { admit, openDatabase, owner, startService } from "@venuewatch/embedded-timescaledb";
import { migrate } from "../server/database/migrate.js";
import { packagedFile } from "../shared/config/package.js";
import { openPool } from "../shared/database/pool.js";
import { makeLog } from "../shared/log/log.js";
import type { Registry } from "../shared/registry/registry.js";
import { digestOfDefinitions } from "../test/support/database.js";

/** All simulations begin at this instant, so that a seed gives the same history on every day. */
export const startMs = Date.UTC(2030, 0, 1);

/** Copies a database that has just been migrated with the registry. The copy is removed when the program ends. */
export async function copyPreparedDatabase(registry: Registry): Promise<string> {
  const copy = await mkdtemp(`${existsSync("/dev/shm") ? "/dev/shm" : tmpdir()}/venuewatch-simulation-`);
  process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
  // cp of node:fs takes seven times as long for these thousand files
  await promisify(execFile)("cp", ["-R", `${await prepared(registry)}/.`, copy]);
  return copy;
}

async function prepared(registry: Registry): Promise<string> {
  const final = `${packagedFile("dist/simulation-database")}-${await digestOfDefinitions(JSON.stringify(registry))}`;
  if (existsSync(final)) return final;
  const making = await mkdtemp(`${final}-`);
  await create(`${making}/pgdata`, registry);
  await rename(making, final).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    await rm(making, { recursive: true });
  });
  return final;
}

async function create(directory: string, registry: Registry): Promise<void> {
  const log = makeLog("simulation", "warn");
  const wallClock = new SharedArrayBuffer(8);
  new Float64Array(wallClock)[0] = startMs - 60_000;
  const backend = await openDatabase({ directory, log, wallClock, searchPath: "venuewatch, public" });
  const password = "while it is made";
  await admit(backend, owner, password);
  const refused = { failed: () => {}, close: () => {} };
  const service = await startService(backend, { port: 0, log, refused, decoySecret: password });
  const url = `postgres://${owner}:${encodeURIComponent(password)}@127.0.0.1:${service.port}/template1`;
  const pool = openPool(url, { applicationName: "simulation", log });
  await migrate(pool, registry, log);
  await pool.close();
  await service.close();
}
