/** A database of its own for each test file: on the server of DATABASE_URL, or an embedded one. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import type { Test } from "tap";
import { openPool, type Pool } from "../server/db.js";
import { makeLog } from "../server/log.js";
import { migrate } from "../server/migrate.js";
import { packagedFile } from "../server/package.js";
import { loadRegistry, type Registry } from "../server/registry.js";

const server = process.env.DATABASE_URL;

export interface TestDatabase {
  url: string;
  pool: Pool;
  registry: Registry;
}

/** An empty database, gone when the test ends. */
export async function emptyDatabase(t: Test): Promise<string> {
  if (!server) throw new Error("no embedded yet");
  const name = `venuewatch_test_${randomBytes(6).toString("hex")}`;
  await asked(server, `create database ${name}`);
  t.teardown(() => asked(server, `drop database ${name} with (force)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** A database at this build's schema, with the fifteen venues of the packaged registry. */
export async function migratedDatabase(t: Test): Promise<TestDatabase> {
  const url = await emptyDatabase(t);
  const log = makeLog("test", "warn");
  const pool = openPool(url, { applicationName: "test", log });
  t.teardown(() => pool.close());
  const registry = await loadRegistry(packagedFile("registry.json"));
  await migrate(pool, registry, log);
  return { url, pool, registry };
}

async function asked(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement);
  await client.end();
}
