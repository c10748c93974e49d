/**
 * Upgrades while others read and write: from the first schema with a history to the newest, killed on the way, and of
 * definitions alone. `UPGRADE_STEP_S` makes the history denser (the seconds between raw samples), and kills at each
 * step.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { type Db, type Pool, sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { migrate } from "../../../server/database/migrate.js";
import { packagedFile } from "../../../shared/config/package.js";
import { readiness } from "../../../server/health/readiness.js";
import { recordSamples } from "../../../server/database/record-samples.js";
import { categories } from "../../../shared/registry/registry.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { definitionsFault, schemaState } from "../../../server/database/schema-state.js";
import { readSchema, sqlFolder } from "../../../shared/database/sql-files.js";
import { emptyDatabase, migratedDatabase, type TestDatabase } from "../../support/database.js";
import { firstLevels, firstRelease, minutesKeptDays } from "../../support/first-release.js";
import { watchLockWaits } from "../../support/lock-waits.js";
import { madeSample } from "../../support/made-sample.js";
import { poolOn } from "../../support/pool-on.js";
import { superuserMissing } from "../../support/rights.js";
import { append, sqlCopy } from "../../support/sql-copy.js";

const server = process.env.DATABASE_URL;
const { UPGRADE_STEP_S } = process.env;
const past = UPGRADE_STEP_S
  ? { everyDays: 7, recentDays: 8, stepS: Number(UPGRADE_STEP_S) }
  : { everyDays: 115, recentDays: 3, stepS: 1800 };
/**
 * How many runs are killed, and how much each has committed by then, including the base that the first run creates
 * again.
 */
const killed = UPGRADE_STEP_S ? { runs: Infinity, commits: 2 } : { runs: 1, commits: 5 };
/** In the short form, a machine busy with other tests may be slow even under a lock. */
const longestWaitMs = UPGRADE_STEP_S ? 1_000 : 5_000;
const skipEmbedded = !server && "the embedded database runs one transaction at a time";
const quiet = makeLog("test", "error");
const registry = await loadRegistry(packagedFile("registry/default.json"));

/** Earlier releases were migrated by a superuser. */
const skipOwner = await superuserMissing();

void t.test("a database of the first release is upgraded while it is in use", { skip: skipOwner }, async (t) => {
  const url = await emptyDatabase(t);
  const pool = poolOn(t, url);
  await firstRelease(pool, past);
  const before = await rollUps(pool);
  t.ok(before.venue_day!.rows > 9 && before.sample_hour!.rows > 9);
  const oldDays = await daysWithoutMinutes(pool);
  t.ok(oldDays.length > 4, "most days have no minutes any more");

  const waits = server ? watchLockWaits(url) : null;
  const writer = repeat(() => writeBatch(pool));
  const readers = [
    "select count(*) from sample where ts > now() - interval '1 day'",
    "select venue_id, sum(down_minutes) from venue_day group by 1",
  ].map((text) => repeat(() => pool.text(text, [])));
  const viewer = repeat(() => pool.text("select * from api.venue_day", []));
  const kills = await killOnTheWay(url);
  t.ok(kills >= Math.min(killed.runs, 2), `the migration was killed ${kills} times`);
  await migrate(migratorOn(t, url), registry, quiet);

  const written = await writer.stop();
  t.ok(written.times > 0, `${written.times} batches were written during the upgrade`);
  t.strictSame(written.codes, [], "no writer failed");
  for (const reader of readers) t.strictSame((await reader.stop()).codes, [], "no reader of a table failed");
  const { codes } = await viewer.stop();
  t.strictSame(
    codes.filter((code) => !["42P01", "3F000"].includes(code)),
    [],
    "a reader of a view failed only while the view was missing",
  );
  await waits?.stop();
  if (waits) t.ok(waits.longestMs() < longestWaitMs, `the longest wait for a lock was ${waits.longestMs()} ms`);

  t.strictSame(await schemaState(pool), { missing: [], unknown: [] });
  t.equal(await definitionsFault(pool), null);
  const replaced = ["component_minute", "venue_minute", "venue_day"];
  const after = await rollUps(pool);
  for (const rollup of firstLevels.filter((level) => ![...replaced, "latency_day"].includes(level)))
    t.strictSame(after[rollup], before[rollup], `${rollup} is unchanged`);
  await daysAreKept(t, pool, before["venue_day"]!.rows);
  const kept = await pool.query(sql`select from sample where latency_us = ${writtenUs}`);
  t.equal(kept.length, written.times * batchSize, "no written sample is lost");
  t.strictSame(
    await pool.query(sql`
      select count(*) as incidents, count(*) filter (where closed_at is not null) as closed from api.incident
    `),
    [{ incidents: 40, closed: 40 }],
  );

  const fresh = await migratedDatabase(t);
  t.strictSame(await shapes(pool), await shapes(fresh.pool), "the tables equal those of a new database");

  await pool.query(sql`call upkeep.refresh_late(now())`);
  await madeAgain(t, pool);
  t.strictSame(await daysWithoutMinutes(pool), oldDays, "days that cannot be recomputed are unchanged");
  const [filled] = await pool.query<Record<string, number>>(sql`
    select
      (select sum(minutes) from venue_latency_day) as "venueMinutes",
      (select sum(minutes) from latency_day join component using (component_id) where kind = 'rest') as minutes,
      (select sum(hours) from usual_hour where is_p50) as "usualHours",
      (
        select count(*)
        from sample_hour
        join component using (component_id)
        where kind = 'rest' and p50_us is not null and good >= 10 and hour < time_bucket('5 days', now())
      ) as hours
  `);
  t.ok(filled!.minutes! > 0 && filled!.hours! > 0);
  t.equal(filled!.venueMinutes, filled!.minutes, "new roll-ups are filled");
  t.equal(filled!.usualHours, filled!.hours, "filled from the beginning of the history");

  await t.test("definitions change while all are in use", (t) => definitionsChange(t, fresh));
});

/** As a reader sees them, from either release. */
async function daysWithoutMinutes(db: Db) {
  return db.query(sql`
    select venue_id, day, measured_minutes, down_minutes, degraded_minutes
    from api.venue_day
    where day < now() - ${minutesKeptDays + 1} * interval '1 day'
    order by 1, 2
  `);
}

/** Right after the migration every day has the previous release's figures. */
async function daysAreKept(t: Test, pool: Pool, rows: number): Promise<void> {
  const [kept] = await pool.query<{ rows: number; minutes: number }>(
    sql`select count(*) as rows, sum(measured_minutes) as minutes from api.venue_day`,
  );
  t.equal(kept!.rows, rows, "no day has lost its figures");
  t.ok(kept!.minutes > 0);
}

/** An interrupted run continues where it stopped; in the end all kept minutes follow the present rules. */
async function madeAgain(t: Test, pool: Pool): Promise<void> {
  await pool.query(sql`call upkeep.add_up(now())`);
  let pieces = 0;
  const made: Date[] = [];
  for (let more = true; more; pieces++) {
    const [row] = await pool.query<{ more: boolean }>(sql`call upkeep.remake_next()`);
    more = row!.more;
    const [now] = await pool.query<{ made_from: Date }>(sql`select made_from from rollups_made`);
    made.push(now!.made_from);
  }
  t.ok(pieces > 48, `in ${pieces} pieces`);
  const measuredDays = past.recentDays + 1 + 365 / past.everyDays;
  t.ok(pieces < 24 * measuredDays, "hours and days without measurements are skipped");
  t.ok(
    made.every((at, i) => i === 0 || at <= made[i - 1]!),
    "the newest are recomputed first",
  );
  const [row] = await pool.query<Record<string, number>>(sql`
    with by_hand as (
      select
        minute,
        component_id,
        count(*) >= 2 as measured,
        count(*) >= 2 and count(*) filter (where 2 * good <= samples) * 2 > count(*) as down
      from sample_minute
      group by 1, 2
    ),
    of_days as (
      select date_trunc('day', minute) as day, component_id, count(*) as measured, count(*) filter (where down) as down
      from by_hand
      where measured and minute < (select days_to from rollups_made)
      group by 1, 2
    )
    select
      (select count(*) from by_hand) as minutes,
      (
        select count(*)
        from by_hand b
        full join component_minute m using (minute, component_id)
        where (b.measured, b.down) is distinct from (m.measured, m.down)
      ) as "otherMinutes",
      (select count(*) from of_days) as days,
      (
        select count(*)
        from of_days b
        full join component_day d using (day, component_id)
        where (b.measured, b.down) is distinct from (d.measured_minutes, d.down_minutes)
      ) as "otherDays"
  `);
  t.ok(row!["minutes"]! > 0 && row!["days"]! > 0);
  t.match(row, { otherMinutes: 0, otherDays: 0 }, "figures agree with the regions' minutes");
}

async function definitionsChange(t: Test, { pool, url }: TestDatabase): Promise<void> {
  const folder = await sqlCopy(t);
  const waits = server ? watchLockWaits(url) : null;
  const users = [
    repeat(() => pool.file("status", [null, categories, 5_000])),
    repeat(() => recordSamples(pool, "eu-central", [madeSample()])),
    repeat(() => pool.query(sql`call upkeep.refresh_newest(now())`)),
  ];
  for (const change of ["-- once\n", "-- twice\n"]) {
    await append(folder, "upkeep/100-retain.sql", change);
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

void t.test("tables that views of 0.8 read remain until the new views exist", { skip: skipOwner }, async (t) => {
  const pool = poolOn(t, await emptyDatabase(t));
  await pool.script("create extension if not exists timescaledb");
  const prelude = await readFile(new URL("prelude.sql", sqlFolder), "utf8");
  await pool.transaction(async (tx) => {
    await tx.script(prelude);
    for (const { name, text, checksum } of await readSchema(sqlFolder)) {
      if (name >= "016") continue;
      await tx.script(text);
      await tx.query(sql`insert into migration (name, checksum) values (${name}, ${checksum})`);
    }
    await tx.script(`
      create schema api;
      create view api.typical as select * from typical_week;
      create view api.usual as select * from usual_hour;
      create view api.days as select * from venue_day;
    `);
  });
  const warnings: string[] = [];
  const log = makeLog("test", "warn", (line) => warnings.push(line));
  await migrate(pool, registry, log);
  t.strictSame(warnings, []);
  t.strictSame(await formerSchemas(pool), [], "they are dropped afterwards");
});

void t.test("a reader in a long transaction does not delay a migration", { skip: skipEmbedded }, async (t) => {
  const { pool, url } = await migratedDatabase(t);
  const folder = await sqlCopy(t);
  await append(folder, "upkeep/100-retain.sql", "-- changed\n");
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

  await append(folder, "upkeep/100-retain.sql", "-- and again\n");
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

/** Runs the migration repeatedly, and kills it a few steps further each time. Resolves to the number of kills. */
async function killOnTheWay(url: string): Promise<number> {
  const program = packagedFile("dist/test/support/migrating-process.js");
  const options = JSON.stringify({ commits: killed.commits });
  let kills = 0;
  for (; kills < killed.runs; kills++) {
    const child = spawn(process.execPath, [program, url, options], { stdio: ["ignore", "pipe", "inherit"] });
    const closed = once(child, "close");
    const [said] = (await once(child.stdout, "data")) as [Buffer];
    if (said.toString() === "held\n") child.kill("SIGKILL");
    await closed;
    if (said.toString() !== "held\n") break;
  }
  return kills;
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

/** Inserts as a probe of the first release does: only columns that have always existed. */
async function writeBatch(db: Db): Promise<void> {
  await db.query(sql`
    insert into sample (ts, component_id, region_id, good, latency_us)
    select clock_timestamp(), component_id, 1, true, ${writtenUs}
    from generate_series(1, ${batchSize}::int) component_id
  `);
}

/** The number of rows in each level of the first release, and a summary of their content. */
async function rollUps(db: Db) {
  const found: Record<string, { rows: number; digest: string }> = {};
  for (const rollup of firstLevels) {
    const [row] = await db.query<{ rows: number; digest: string }>(sql`
      select count(*) as rows, md5(string_agg(r::text, ' ' order by r::text)) as digest from ${sql.ident(rollup)} r
    `);
    found[rollup] = row!;
  }
  return found;
}

/** Columns, checks, keys, indexes and owner of every table and roll-up. */
async function shapes(db: Db) {
  return db.query(sql`
    select
      c.relname,
      c.relowner::regrole::text as owner,
      (
        select array_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull) order by attname)
        from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped
      ) as columns,
      -- of rows that were there before it some checks are not proven
      (
        select array_agg(conname || ' ' || replace(pg_get_constraintdef(oid), ' NOT VALID', '') order by conname)
        from pg_constraint where conrelid = c.oid
      ) as constraints,
      (select array_agg(pg_get_indexdef(indexrelid) order by indexrelid::regclass::text) from pg_index where indrelid = c.oid) as indexes
    from pg_class c
    where c.relnamespace = 'venuewatch'::regnamespace and c.relkind in ('r', 'v')
    order by 1
  `);
}

async function formerSchemas(db: Db) {
  return db.query(sql`select nspname from pg_namespace where starts_with(nspname, 'venuewatch_former')`);
}

/** The application name that identifies its waits. */
function migratorOn(t: Test, url: string): Pool {
  return poolOn(t, url, { applicationName: "migrate" });
}
