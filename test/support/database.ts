/**
 * Gives each test file a separate database: on the server of DATABASE_URL, or an embedded one on a copy of a prepared
 * directory. A copy takes a fraction of the time of creating one.
 */
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rename, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import type { Test } from "tap";
import { openPool, type Pool } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";
import { migrate } from "../../server/database/migrate.js";
import { packagedFile } from "../../shared/config/package.js";
import { type Registry, type Venue } from "../../shared/registry/registry.js";
import { loadRegistry } from "../../shared/registry/load-registry.js";
import { hostEmbedded } from "./database-host.js";

const server = process.env.DATABASE_URL;
const preparedFolder = packagedFile("dist/test-database");
const log = makeLog("test", "warn");

export interface TestDatabase {
  url: string;
  pool: Pool;
  registry: Registry;
}

/** Creates a database with this build's schema and the fifteen venues. It is removed when the test ends. */
export async function migratedDatabase(t: Test): Promise<TestDatabase> {
  const registry = await testRegistry();
  const url = server ? await databaseOnServer(t, server) : await embeddedCopy(t, await preparedDirectory(registry));
  const pool = openPool(url, { applicationName: "test", log });
  t.teardown(() => pool.close());
  if (server) await migrateAsMeasured(pool, registry);
  // a directory prepared an hour ago must not look as if its venues had been watched, unmeasured, for that hour
  else await pool.script("update venue set watched_from = now(); update component set watched_from = now()");
  return { url, pool, registry };
}

/** The packaged registry, with other cadences for Kraken: many tests make samples of it every five seconds. */
export async function testRegistry(): Promise<Registry> {
  const registry = await loadRegistry(packagedFile("registry/exchanges.json"));
  const cadencesMs: Record<string, number> = { time: 5000, ticker: 5000, status: 10_000, book: 10_000, trades: 15_000 };
  const quick = (venue: Venue) => ({
    ...venue,
    rest: venue.rest.map((one) => ({ ...one, cadenceMs: cadencesMs[one.name]! })),
  });
  return { ...registry, venues: registry.venues.map((one) => (one.id === "kraken" ? quick(one) : one)) };
}

/** Creates a database without any of our objects. It is removed when the test ends. */
export async function emptyDatabase(t: Test): Promise<string> {
  return server ? databaseOnServer(t, server) : embeddedCopy(t, null);
}

/** Returns the directory that tests copy. The first test that needs it makes it; of two made at once, one is kept. */
async function preparedDirectory(registry: Registry): Promise<string> {
  const final = `${preparedFolder}-${await digestOfDefinitions()}`;
  if (existsSync(final)) return final;
  const making = await mkdtemp(`${final}-`);
  const { url, stop } = await hostEmbedded(making);
  const pool = openPool(url, { applicationName: "test", log });
  try {
    await migrateAsMeasured(pool, registry);
    await keepPlans(pool);
  } finally {
    await pool.close();
    await stop();
  }
  await rename(making, final).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    await rm(making, { recursive: true });
  });
  return final;
}

/** As if measured before: else the engine would conclude nothing from a component's trouble before it was good once. */
async function migrateAsMeasured(pool: Pool, registry: Registry): Promise<void> {
  await migrate(pool, registry, log);
  await pool.script("update component_entry set good_at = '-infinity'");
}

/**
 * The engine plans its statements over samples at each tick, so that no plan covers chunks that the tick does not read.
 * A test's database has few chunks, and cached plans halve the time of its ticks.
 */
async function keepPlans(pool: Pool): Promise<void> {
  await pool.script(`
    alter function engine.store_region_states set plan_cache_mode = force_generic_plan;
    alter function engine.retract_incidents set plan_cache_mode = force_generic_plan
  `);
}

/** Changes with whatever a prepared database depends on, and with `more`. */
export async function digestOfDefinitions(more = ""): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(packagedFile("sql"), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const registryFiles = (await readdir(packagedFile("registry"), { recursive: true }))
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => join("registry", name));
  const makers = [
    ...["migrate", "migrating-role", "sync-registry"].map((name) => `dist/server/database/${name}.js`),
    ...["dist/shared/database/sql-files.js", "dist/test/support/database.js"],
  ];
  const others = ["package-lock.json", ...registryFiles, ...makers].map((name) => packagedFile(name));
  for (const path of [...files.sort(), ...others]) hash.update(await readFile(path));
  hash.update(more);
  return hash.digest("hex").slice(0, 12);
}

/** Makes a directory with such a database, for tests that host it themselves. It is removed when the test ends. */
export async function migratedDirectory(t: Test): Promise<string> {
  const registry = await testRegistry();
  return copyOf(t, await preparedDirectory(registry));
}

async function embeddedCopy(t: Test, from: string | null): Promise<string> {
  const directory = await copyOf(t, from);
  const { url, stop } = await hostEmbedded(directory);
  t.teardown(stop);
  return url;
}

async function copyOf(t: Test, from: string | null): Promise<string> {
  const directory = await mkdtemp(join(await folder(), "venuewatch-test-"));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  // cp of node:fs takes seven times as long for these thousand files
  if (from) await promisify(execFile)("cp", ["-R", `${from}/.`, directory]);
  return directory;
}

const inMemory = "/dev/shm";
/** Several databases at once take a few hundred MiB. */
const enoughBytes = 4 * 2 ** 30;

/** Prefers a folder in memory, where there is enough of it: a copy on disk takes up to ten times as long. */
async function folder(): Promise<string> {
  if (process.env.TMPDIR || !existsSync(inMemory)) return tmpdir();
  const { bavail, bsize } = await statfs(inMemory);
  return bavail * bsize >= enoughBytes ? inMemory : tmpdir();
}

async function databaseOnServer(t: Test, server: string): Promise<string> {
  const name = `venuewatch_test_${randomBytes(6).toString("hex")}`;
  await ask(server, `create database ${name}`);
  t.teardown(() => ask(server, `drop database ${name} with (force)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function ask(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement);
  await client.end();
}
