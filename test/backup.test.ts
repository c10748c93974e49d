/** Backups, made and restored by the very commands of docs/operating.md. On a server: where DATABASE_URL is set and PostgreSQL's programs are here. */
import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { startWeb } from "../server/api/web.js";
import { openPool, type Pool, sql } from "../server/db.js";
import { tick } from "../server/engine/tick.js";
import { makeLog } from "../server/log.js";
import { migrate } from "../server/migrate.js";
import { packagedFile } from "../server/package.js";
import { loadRegistry } from "../server/registry.js";
import { migratedDirectory } from "./database.js";
import { hostEmbedded } from "./database-host.js";
import { ago, decide, measured, pastIncident } from "./fleet.js";
import {
  makePlace,
  type Place,
  postgresPrograms,
  startServer,
} from "./postgres-server.js";

const log = makeLog("test", "error");
const registry = await loadRegistry(packagedFile("registry.json"));
const page = await readFile(packagedFile("docs/operating.md"), "utf8");
const programs = process.env.DATABASE_URL
  ? await postgresPrograms()
  : "DATABASE_URL names no server";

/** The commands under a heading of the page. */
function commands(heading: string, language = "sh"): string {
  const section = page.split(`\n### ${heading}\n`)[1]!.split(/\n##+ /)[0]!;
  return new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(section)![1]!;
}

void t.test("the embedded database, copied after a clean stop", async (t) => {
  const DATA_DIR = await migratedDirectory(t);
  const BACKUP = `${DATA_DIR}.backup`;
  for (const left of [BACKUP, `${DATA_DIR}.damaged`])
    t.teardown(() => rm(left, { recursive: true, force: true }));
  const sh = (script: string) =>
    promisify(execFile)("sh", ["-ec", script], {
      env: { ...process.env, DATA_DIR, BACKUP },
    });

  const before = await hostEmbedded(DATA_DIR);
  const pool = poolOn(before.url);
  await fill(pool);
  const told = await facts(pool);
  await pool.close();
  await before.stop();
  mkdirSync(join(DATA_DIR, "spool"));
  await writeFile(join(DATA_DIR, "spool", "of-then"), "");
  await sh(commands("The embedded database: backup"));

  await rm(join(DATA_DIR, "spool", "of-then"));
  await writeFile(join(DATA_DIR, "spool", "of-now"), "");
  await rm(join(DATA_DIR, "pgdata"), { recursive: true });
  await sh(commands("The embedded database: restore"));
  await readFile(join(DATA_DIR, "spool", "of-now"));

  const after = await hostEmbedded(DATA_DIR);
  t.teardown(after.stop);
  const restored = poolOn(after.url);
  t.teardown(() => restored.close());
  await lives(t, restored, told);
});

void t.test("a server", async (t) => {
  const skip = typeof programs === "string" && programs;
  await t.test("by pg_dump and by base backup", { skip }, async (t) => {
    if (typeof programs === "string") return;
    const place = await makePlace(t, programs);
    const server = await startServer(t, place, "first");
    const BACKUP = join(place.folder, "backup");
    const SERVER_URL = server.url("postgres");
    const DATABASE_URL = server.url("venuewatch");
    await place.sh(
      `mkdir "$BACKUP"; createdb --maintenance-db="$SERVER_URL" venuewatch`,
      { BACKUP, SERVER_URL },
    );
    const pool = poolOn(DATABASE_URL);
    await migrate(pool, registry, log);
    await place.sh(
      `psql "$DATABASE_URL" --command="create role core_1 login in role vw_core"`,
      { DATABASE_URL },
    );
    await fill(pool);
    const told = await facts(pool);

    await place.sh(commands("pg_dump: backup"), { DATABASE_URL, BACKUP });
    await place.sh(commands("Base backup: backup"), { SERVER_URL, BACKUP });
    const UNTIL = await damage(pool);
    await pool.close();

    await t.test("a dump, on a server that has nothing of ours", (t) =>
      restoreDump(t, place, BACKUP, told),
    );
    await t.test("to the instant before the damage", async (t) => {
      await server.stop();
      const PGDATA = server.pgdata;
      await place.sh(`mv "$PGDATA" "$PGDATA.damaged"`, { PGDATA });
      await place.sh(commands("Base backup: restore"), {
        ...{ BACKUP, PGDATA, UNTIL, ARCHIVE: server.archive },
      });
      const restored = poolOn(DATABASE_URL);
      await lives(t, restored, told);
      const [late] = await restored.query<{ here: boolean }>(
        sql`select to_regclass('made_after_the_backup') is not null as here`,
      );
      t.ok(late!.here, "with what was written after the backup");
      await restored.close();
    });
  });
});

async function restoreDump(t: Test, place: Place, BACKUP: string, told: Facts) {
  const server = await startServer(t, place, "second");
  const SERVER_URL = server.url("postgres");
  const DATABASE_URL = server.url("venuewatch");
  await place.sh(commands("pg_dump: restore"), {
    ...{ SERVER_URL, DATABASE_URL, BACKUP },
  });
  const restored = poolOn(DATABASE_URL);
  const roles = await restored.query<{ role: string }>(sql`
    select rolname as role from pg_roles where pg_has_role(rolname, 'vw_core', 'member') and not rolsuper order by 1
  `);
  t.strictSame(
    roles.map(({ role }) => role),
    ["core_1", "vw_core"],
    "roles and logins are there",
  );
  await lives(t, restored, told);
  await restored.close();
  await server.stop();
}

/** Something of everything: raw samples in compressed and in open chunks, roll-ups, and an incident. */
async function fill(pool: Pool): Promise<void> {
  await measured(pool, {
    from: ago(2 * 86_400),
    to: ago(2 * 86_400 - 60),
    venue: "okx",
  });
  await pool.query(sql`call upkeep.refresh_late(now())`);
  await pool.query(
    sql`select compress_chunk(c) from show_chunks('sample', older_than => now() - interval '1 day') c`,
  );
  await measured(pool, { from: ago(60), to: ago(0), venue: "kraken" });
  await pastIncident(pool, {
    ...{ venue: "kraken", component: "rest:ticker" },
    ...{ startedAt: ago(3_600), minutes: 5 },
  });
  await decide(pool);
}

/** What must be the same afterwards. */
type Facts = Awaited<ReturnType<typeof facts>>;

const rollUps = [
  ...["sample_minute", "sample_hour"],
  ...["rest_hour", "stream_hour", "latency_hour"],
  ...["component_minute", "venue_minute"],
  ...["component_hour", "venue_hour", "component_day"],
  ...["venue_day", "latency_day", "venue_latency_day"],
];
const counted = [
  ...["sample", "incident", "alert_event", "region_state", "component"],
  ...["migration", ...rollUps],
];

async function factsOf(pool: Pool, tables: string[]) {
  const found: Record<string, object> = {};
  for (const table of tables)
    [found[table]] = (await pool.query<object>(sql`
      select count(*) as rows, md5(string_agg(r::text, ' ' order by r::text)) as said from ${sql.ident(table)} r
    `)) as [object];
  return found;
}

async function facts(pool: Pool) {
  const tables = await factsOf(pool, counted);
  const [chunks] = await pool.query<{ compressed: number }>(sql`
    select count(*) as compressed from timescaledb_information.chunks where is_compressed
  `);
  return { tables, ...chunks!, answers: await answers(pool) };
}

async function answers(pool: Pool): Promise<string[]> {
  const web = await startWeb({
    ...{ pool, registry, log, rateLimit: 0, trustProxy: [], port: 0 },
    ...{
      host: "127.0.0.1",
      baseUrl: "http://localhost",
      siteUrl: "http://localhost",
    },
  });
  const found: string[] = [];
  for (const path of ["/v1/status", "/v1/exchanges/kraken", "/v1/incidents"]) {
    const answer = await fetch(`http://127.0.0.1:${web.port}${path}`);
    found.push(`${answer.status} ${await answer.text()}`);
  }
  await web.close();
  return found;
}

/** It says what was said before, and goes on. */
async function lives(t: Test, pool: Pool, told: Facts): Promise<void> {
  t.ok(told.compressed > 0);
  t.match(told.answers[2], /^200 .*kraken/, "there was an incident");
  t.strictSame(await facts(pool), told, "all is what it was, to the byte");

  await migrate(pool, registry, log);
  const [last] = await pool.query<{ id: number }>(
    sql`select max(event_id) as id from alert_event`,
  );
  await pool.script(commands("After any restore", "sql"));
  await measured(pool, { from: ago(10), to: ago(0) });
  // a sample that is late, into a compressed chunk
  await measured(pool, {
    from: ago(2 * 86_400 - 180),
    to: ago(2 * 86_400 - 240),
    venue: "okx",
    component: "rest:ticker",
  });
  t.match(await tick(pool, new Date(Date.now() + 4_000)), { at: String });
  await pool.query(sql`call upkeep.refresh_late(now())`);
  const [rolled] = await pool.query<{ raw: number; minutes: number }>(sql`
    select (select count(*) from sample) as raw, (select sum(samples) from sample_minute) as minutes
  `);
  t.equal(rolled!.minutes, rolled!.raw, "roll-ups follow what is measured");
  await mendsARollUp(t, pool);
  const [next] = await pool.query<{ id: number }>(
    sql`select nextval(pg_get_serial_sequence('alert_event', 'event_id')) as id`,
  );
  t.ok(next!.id > last!.id + 1_000_000, "no alert has a number of before");
}

async function mendsARollUp(t: Test, pool: Pool): Promise<void> {
  const before = await factsOf(pool, rollUps);
  const [table] = await pool.query<{ name: string }>(sql`
    select format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name) as name
    from timescaledb_information.continuous_aggregates where view_name = 'sample_minute'
  `);
  await pool.script(`delete from ${table!.name}`);
  for (const call of commands("A table is damaged", "sql").split(";\n"))
    await pool.script(call);
  t.strictSame(await factsOf(pool, rollUps), before, "a roll-up is mended");
}

/** @returns the instant before it */
async function damage(pool: Pool): Promise<string> {
  await pool.script("create table made_after_the_backup ()");
  const [now] = await pool.query<{ at: string }>(
    sql`select clock_timestamp()::text as at`,
  );
  await pool.script("truncate incident, alert_event cascade");
  await pool.script("drop table made_after_the_backup");
  await pool.script("select pg_switch_wal()");
  return now!.at;
}

function poolOn(url: string): Pool {
  return openPool(url, { applicationName: "test", log });
}
