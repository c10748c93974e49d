/** The next migration, while others read and write: of tables, killed on the way, and of definitions alone. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { type Db, type Pool, sql, openPool } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { migrate } from "../../../server/database/migrate.js";
import { packagedFile } from "../../../shared/config/package.js";
import { readiness } from "../../../server/process/health.js";
import { recordSamples } from "../../../server/database/record-samples.js";
import { categories } from "../../../shared/registry/registry.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { definitionsFault, schemaState } from "../../../server/database/schema-state.js";
import { migratedDatabase, type TestDatabase } from "../../support/database.js";
import { ago, measured } from "../../support/fleet.js";
import { madeSample } from "../../support/made-sample.js";
import { poolOn } from "../../support/pool-on.js";
import { append, sqlCopy } from "../../support/sql-copy.js";

const server = process.env.DATABASE_URL;
/** A machine busy with other tests may be slow even under a lock. */
const longestWaitMs = 5_000;
const skipEmbedded = !server && "the embedded database runs one transaction at a time";
const quiet = makeLog("test", "error");
const registry = await loadRegistry(packagedFile("registry/exchanges.json"));

/** A step of the next release: a column of the largest table, a column that a view shows, and a table. */
const nextFiles = {
  "schema/900-next.sql": `
    alter table sample add column next integer;
    create table next_thing (next_id integer generated always as identity primary key, name text not null unique);
    insert into next_thing (name) values ('first');
    alter table incident add column next_thing integer;
  `,
  "schema/901-after.sql": "alter table next_thing add column after_it integer not null default 1;",
  "board/900-next.sql": "create view api.next_thing as select next_id, name, after_it from next_thing;",
};

void t.test("the next release migrates a database with a history while it is in use", async (t) => {
  const { pool, url } = await migratedDatabase(t);
  await measured(pool, { from: ago(3_600), to: ago(0), venue: "okx" });
  await pool.query(sql`call upkeep.refresh_all(${ago(7_200)}, now())`);
  const before = await pool.query(sql`select * from sample_minute order by 1, 2, 3`);
  t.ok(before.length > 0);
  const folder = await sqlCopy(t);
  for (const [path, text] of Object.entries(nextFiles)) await append(folder, path, text);

  const waits = server ? watchLockWaits(url) : null;
  const users = {
    writer: repeat(() => writeBatch(pool)),
    "reader of a table": repeat(() => pool.query(sql`select count(*) from sample where ts > now() - interval '1 day'`)),
    "reader of a view": repeat(() => pool.query(sql`select * from api.venue_day`)),
  };
  t.ok((await killOnTheWay(url, folder)) >= 2, "the migration was killed on the way");
  await migrate(migratorOn(t, url), registry, quiet, folder);
  const batches: number[] = [];
  for (const [name, user] of Object.entries(users)) {
    const { times, codes } = await user.stop();
    t.strictSame(codes, [], `no ${name} failed`);
    batches.push(times);
  }
  await waits?.stop();
  if (waits) t.ok(waits.longestMs() < longestWaitMs, `the longest wait for a lock was ${waits.longestMs()} ms`);

  t.strictSame(await pool.query(sql`select name, after_it from api.next_thing`), [{ name: "first", after_it: 1 }]);
  t.match(await schemaState(pool), { missing: [], unknown: ["900-next.sql", "901-after.sql"] });
  t.strictSame(await pool.query(sql`select * from sample_minute order by 1, 2, 3`), before, "the history is unchanged");
  const kept = await pool.query(sql`select from sample where latency_us = ${writtenUs}`);
  t.equal(kept.length, batches[0]! * batchSize, "no written sample is lost");
});

void t.test("views and functions change while all are in use", async (t) =>
  definitionsChange(t, await migratedDatabase(t)),
);

async function definitionsChange(t: Test, { pool, url }: TestDatabase): Promise<void> {
  const folder = await sqlCopy(t);
  const waits = server ? watchLockWaits(url) : null;
  const users = [
    repeat(() => pool.file("status", [null, categories, 5_000])),
    repeat(() => recordSamples(pool, "eu-central", [madeSample()])),
    repeat(() => pool.query(sql`call upkeep.refresh_newest(now())`)),
  ];
  for (const change of ["-- once\n", "-- twice\n"]) {
    await append(folder, "rollups/100-retain.sql", change);
    await migrate(migratorOn(t, url), registry, quiet, folder);
  }
  for (const user of users) {
    const { times, codes } = await user.stop();
    t.ok(times > 0);
    t.strictSame(codes, [], "no user finds a definition missing");
  }
  await waits?.stop();
  if (waits) t.ok(waits.longestMs() < longestWaitMs, `the longest wait for a lock was ${waits.longestMs()} ms`);
  t.strictSame(await formerSchemas(pool), [], "the former definitions are dropped");

  const { schema } = (await readiness(pool)).checks;
  t.notOk(schema!.ok, "a program of another build notices");
  t.match(schema!.detail, /^has views and functions of other files than this build/);
  await migrate(pool, registry, quiet);
  t.equal(await definitionsFault(pool), null, "the other build can make its own definitions");
}

void t.test("a reader in a long transaction does not delay a migration", { skip: skipEmbedded }, async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const folder = await sqlCopy(t);
  await append(folder, "rollups/100-retain.sql", "-- changed\n");
  const migrator = migratorOn(t, url);
  const warnings: string[] = [];
  const recordingLog = makeLog("test", "warn", (line) => warnings.push(line));
  await pool.transaction(async (tx) => {
    await tx.query(sql`select from api.incident`);
    await migrate(migrator, registry, recordingLog, folder, 300);
    await tx.query(sql`select from api.incident, api.component`);
  });
  t.match(warnings.join(""), "the former definitions are left to the next migration");
  t.ok((await formerSchemas(pool)).length > 0);

  await append(folder, "rollups/100-retain.sql", "-- and again\n");
  await migrate(migrator, registry, quiet, folder);
  t.strictSame(await formerSchemas(pool), [], "the next migration drops the former definitions");
});

void t.test("a session that holds a lock is named, and readers get through", { skip: skipEmbedded }, async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const folder = await sqlCopy(t);
  await append(folder, "schema/900-later.sql", "alter table sample add column later int;\n");
  const analyst = poolOn(t, url, { applicationName: "analyst" });
  const warnings: string[] = [];
  const recordingLog = makeLog("test", "warn", (line) => warnings.push(line));
  await analyst.transaction(async (tx) => {
    const [{ pid } = { pid: 0 }] = await tx.query<{ pid: number }>(
      sql`select pg_backend_pid() as pid from (select count(*) from sample) s`,
    );
    const reader = repeat(() => pool.query(sql`select from sample limit 1`));
    const writer = repeat(() => writeBatch(pool));
    const waits = watchLockWaits(url);
    await t.rejects(migrate(migratorOn(t, url), registry, recordingLog, folder, 2_000), {
      name: "UserError",
      message: new RegExp(
        `^schema file 900-later.sql did not get a lock within 2 s: venuewatch analyst \\(pid ${pid}\\) in a transaction for \\d+ s holds sample`,
      ),
    });
    t.match(warnings.join(""), `got no lock; retrying`);
    await waits.stop();
    t.ok(waits.longestMs() > 0, "readers wait while the migration tries");
    t.ok(waits.longestMs() < longestWaitMs, `the longest wait was ${waits.longestMs()} ms`);
    // the analyst's transaction continues, and readers still get through
    for (const user of [reader, writer]) {
      const { times, codes } = await user.stop();
      t.ok(times > 2);
      t.strictSame(codes, []);
    }
  });
  await migrate(migratorOn(t, url), registry, quiet, folder);
  t.match(await schemaState(pool), { unknown: ["900-later.sql"] });
});

/** Runs the migration repeatedly, and kills it a transaction later each time. Resolves to the number of kills. */
async function killOnTheWay(url: string, folder: URL): Promise<number> {
  const program = packagedFile("dist/test/support/migrating-process.js");
  for (let kills = 0; ; kills++) {
    const argv = [program, url, String(kills + 1), folder.href];
    const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
    const closed = once(child, "close");
    const [said] = (await once(child.stdout, "data")) as [Buffer];
    if (said.toString() === "held\n") child.kill("SIGKILL");
    await closed;
    if (said.toString() !== "held\n") return kills;
  }
}

/** Does it until it is stopped, which returns the number of successes, and the SQLSTATEs of the failures. */
function repeat(work: () => Promise<unknown>) {
  const codes: string[] = [];
  let times = 0;
  let stopped = false;
  async function run() {
    while (!stopped) {
      try {
        await work();
        times += 1;
      } catch (error) {
        codes.push((error as { code?: string }).code ?? String(error));
      }
      await sleep(50);
    }
  }
  const running = run();
  return {
    async stop() {
      stopped = true;
      await running;
      return { times, codes };
    },
  };
}

const batchSize = 6;
const writtenUs = 123_456;

/** Inserts as a probe of this release does. */
async function writeBatch(db: Db): Promise<void> {
  await db.query(sql`
    insert into sample (ts, component_id, region_id, good, latency_us)
    select clock_timestamp(), component_id, 1, true, ${writtenUs}
    from generate_series(1, ${batchSize}::int) component_id
  `);
}

async function formerSchemas(db: Db) {
  return db.query(sql`select nspname from pg_namespace where starts_with(nspname, 'venuewatch_former')`);
}

/** The application name that identifies its waits. */
function migratorOn(t: Test, url: string): Pool {
  return poolOn(t, url, { applicationName: "migrate" });
}

interface LockWaits {
  /** The longest wait of another program so far, milliseconds. */
  longestMs: () => number;
  stop: () => Promise<void>;
}

/**
 * Measures how long others waited for a migration's locks, from PostgreSQL's own record of each wait, which excludes
 * the slowness of a busy machine.
 *
 * @param url of the database; it is read over a separate pool
 */
function watchLockWaits(url: string): LockWaits {
  const log = makeLog("test", "warn");
  const pool = openPool(url, { applicationName: "lock watch", log, max: 1 });
  let longestMs = 0;
  let stopped = false;
  async function watch() {
    while (!stopped) {
      const [row] = await pool.query<{ ms: number | null }>(sql`
        select max(extract(epoch from clock_timestamp() - l.waitstart) * 1000)::int as ms
        from pg_locks l
        join pg_stat_activity a using (pid)
        where not l.granted and a.datname = current_database() and a.application_name <> 'venuewatch migrate'
      `);
      longestMs = Math.max(longestMs, row!.ms ?? 0);
      await sleep(10);
    }
  }
  const watching = watch();
  return {
    longestMs: () => longestMs,
    async stop() {
      stopped = true;
      await watching;
      await pool.close();
    },
  };
}
