/**
 * `alter extension timescaledb update`, as in docs/production.md, from the oldest tested version to the newest that the
 * server has.
 */
import pg from "pg";
import t from "tap";
import { openPool, type Pool, sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { accepted, tick } from "../../../server/core/engine/tick.js";
import { migrate } from "../../../server/database/migrate.js";
import { packagedFile } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { isSupported } from "../../../server/database/supported-servers.js";
import { definitionsMade } from "../../../server/database/schema-state.js";
import { emptyDatabase } from "../../support/database.js";
import { insertRaw, randomFrom, samplesWithin } from "../../support/random-samples.js";
import { superuserMissing } from "../../support/rights.js";
import { compressAll, dayMs, retain } from "../../support/rollup-upkeep.js";

const log = makeLog("test", "error");
const registry = await loadRegistry(packagedFile("registry/exchanges.json"));

const versions = await versionsOn(process.env.DATABASE_URL);
const [oldest = "", newest = ""] = [versions[0], versions.at(-1)];

void t.test(
  "a history survives an upgrade of TimescaleDB, and upkeep continues",
  {
    skip:
      (await superuserMissing()) ||
      (oldest === newest && `expected two tested versions of TimescaleDB, got ${newest || "the embedded one"}`),
  },
  async (t) => {
    const url = await emptyDatabase(t);
    t.comment(`from ${oldest} to ${newest}`);

    // a new database has the extension if template1 has it
    await inFreshSession(url, "drop extension if exists timescaledb");
    // the loader requires it to be a session's first statement
    await inFreshSession(url, `create extension timescaledb version '${oldest}'`);
    const now = new Date();
    const before = await onPool(url, async (pool) => {
      await migrate(pool, registry, log);
      await measured(pool, new Date(+now - 2 * dayMs));
      await pool.query(sql`call upkeep.refresh_late(${now})`);
      t.ok((await compressAll(pool, now)).length > 0);
      return historyOf(pool);
    });

    await inFreshSession(url, "alter extension timescaledb update");
    await onPool(url, async (pool) => {
      t.same(await historyOf(pool), before, "no history is lost");
      t.match(await definitionsMade(pool), { intact: true });
      await migrate(pool, registry, log);
      await measured(pool, new Date(+now - dayMs));
      await pool.query(sql`call upkeep.refresh_late(${now})`);
      const after = await historyOf(pool);
      t.ok(after.minutes > before.minutes, "later samples are rolled up");
      t.ok((await compressAll(pool, now)).length > 0, "later chunks are compressed");
      t.same(await historyOf(pool), after);
      accepted(await tick(pool, now));
      t.ok((await retain(pool, new Date(+now + 20 * dayMs))) > 0, "old samples are dropped");
    });
  },
);

/** The tested versions, oldest first. */
async function versionsOn(url: string | undefined): Promise<string[]> {
  // the embedded database has one version
  if (!url) return [];
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ version: string; postgres: string }>(`
    select version, current_setting('server_version') as postgres
    from pg_available_extension_versions
    where name = 'timescaledb'
    order by string_to_array(substring(version from '^[0-9.]+'), '.')::int[]
  `);
  await client.end();
  return rows
    .filter(({ version, postgres }) => isSupported({ timescaledb: version, postgres }))
    .map(({ version }) => version);
}

async function inFreshSession(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** Connections from before an upgrade keep the old library. */
async function onPool<Result>(url: string, work: (pool: Pool) => Promise<Result>): Promise<Result> {
  const pool = openPool(url, { applicationName: "test", log });
  try {
    return await work(pool);
  } finally {
    await pool.close();
  }
}

async function measured(pool: Pool, at: Date): Promise<void> {
  await insertRaw(pool, samplesWithin(randomFrom(+at), at, 5, [1, 2, 6], [1, 2, 3]));
}

async function historyOf(pool: Pool) {
  const [history] = await pool.query<{ samples: number; minutes: number; rolled: number }>(sql`
    select
      (select count(*) from sample) as samples,
      (select count(*) from sample_minute) as minutes,
      (select sum(samples)::int from sample_minute) as rolled,
      (select count(*) from component_minute) as judged,
      (select md5(string_agg(m::text, ' ' order by m::text)) from sample_minute m) as digest
  `);
  return history!;
}
