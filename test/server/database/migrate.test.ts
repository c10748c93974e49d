import { randomBytes } from "node:crypto";
import t, { type Test } from "tap";
import { type Pool, sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { migrate } from "../../../server/database/migrate.js";
import { schemaState } from "../../../server/database/schema-state.js";
import { packagedFile } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { schemaNames, sqlFolder } from "../../../shared/database/sql-files.js";
import { syncRegistry } from "../../../server/database/sync-registry.js";
import { emptyDatabase, migratedDatabase } from "../../support/database.js";
import { poolOn } from "../../support/pool-on.js";
import { becoming } from "../../support/rights.js";
import { notice, said, whole } from "../../support/stored-notices.js";
import { append, sqlCopy } from "../../support/sql-copy.js";

const log = makeLog("test", "warn");
const registry = await loadRegistry(packagedFile("registry/exchanges.json"));

void t.test("concurrent migrators apply each file once to an empty database", async (t) => {
  const url = await emptyDatabase(t);
  const pools = Array.from({ length: 3 }, () => poolOn(t, url));
  const [pool] = pools as [Pool];
  const files = await schemaNames(sqlFolder);

  // only its superuser migrates the embedded database
  if (process.env.DATABASE_URL !== undefined) await refusedWithoutRights(t, url);
  t.strictSame(await schemaState(pool), { missing: files, unknown: [] }, "every schema file is missing before");
  t.strictSame(
    await pool.query(sql`select to_regnamespace('venuewatch') as schema`),
    [{ schema: null }],
    "a role that may not migrate has changed nothing",
  );

  const lines: string[] = [];
  const recordingLog = makeLog("test", "info", (line) => lines.push(line));
  const linesWith = (what: string) => lines.filter((line) => line.includes(what)).length;
  await Promise.all(pools.map((one) => migrate(one, registry, recordingLog)));
  t.equal(linesWith("applied schema file"), files.length, "three concurrent migrators apply each file once");
  t.equal(linesWith("made views and functions"), 1, "the definitions are made once");
  t.strictSame(await schemaState(pool), { missing: [], unknown: [] });
  t.strictSame(
    await pool.query(sql`
      select
        (select count(*) from venue where published) as venues,
        (select count(*) from region where published) as regions
    `),
    [{ venues: 15, regions: 3 }],
  );

  const before = await appliedAt(pool);
  lines.length = 0;
  await migrate(pool, registry, recordingLog);
  t.strictSame(await appliedAt(pool), before, "another migration applies no file");
  t.strictSame(lines, [], "another migration makes no definition");
});

void t.test("a migration refuses", async (t) => {
  const { pool } = await migratedDatabase(t);
  const [first = ""] = await schemaNames(sqlFolder);

  for (const [what, path, text, error] of [
    [
      "an edited schema file",
      `schema/${first}`,
      "-- edited\n",
      { name: "UserError", message: new RegExp(`^A schema file must never change once applied, but ${first} differs`) },
    ],
    [
      "a schema file that fails",
      "schema/900-broken.sql",
      "create table half_done ();\nselect 1 / 0;\n",
      { message: "The schema file 900-broken.sql failed and was undone: division by zero" },
    ],
    ["a broken definition", "rollups/100-retain.sql", "select no_such_function();\n", { message: /no_such_function/ }],
  ] as const)
    await t.test(what, async (t) => {
      const folder = await sqlCopy(t);
      await append(folder, path, text);
      await t.rejects(migrate(pool, registry, log, folder), error);
      t.strictSame(await pool.query(sql`select to_regclass('venuewatch.half_done') as here`), [{ here: null }]);
      t.strictSame(await schemaState(pool), { missing: [], unknown: [] });
      t.ok(await definitionsStand(pool), "the old definitions remain");
    });

  await t.test("a database newer than the code", async (t) => {
    const newer = await sqlCopy(t);
    await append(newer, "schema/901-later.sql", "create table later ();\n");
    await migrate(pool, registry, log, newer);
    t.strictSame(await schemaState(pool), { missing: [], unknown: ["901-later.sql"] });
    await t.rejects(migrate(pool, registry, log), {
      name: "UserError",
      message: /^The database was migrated by a newer build: it has 901-later.sql/,
    });
    t.ok(await definitionsStand(pool), "the newer definitions remain");
  });
});

void t.test("a migration replaces all definitions", async (t) => {
  const { pool } = await migratedDatabase(t);
  await pool.script(`
    drop schema api cascade;
    create schema api;
    create view api.clock as select 1 as other, 'columns' as than, now() as ours;
    create view api.left_over as select other from api.clock;
    drop function upkeep.refused_after();
    create function upkeep.refused_after() returns text language sql return 'another type';
  `);
  await migrate(pool, registry, log);
  t.ok(await definitionsStand(pool));
  const left = await pool.query(sql`select to_regclass('api.left_over') as view`);
  t.strictSame(left, [{ view: null }], "views that this build does not define are dropped");
});

void t.test("the tables follow the registry", async (t) => {
  const { pool } = await migratedDatabase(t);
  const ofKraken = async () => {
    const [row] = await pool.query<{ venueId: number; published: boolean }>(sql`
      select v.venue_id as "venueId", v.published, array_agg(c.component_id order by c.component) as components
      from venue v
      join component c using (venue_id)
      where v.venue = 'kraken'
      group by v.venue_id
    `);
    return row!;
  };
  const kraken = await ofKraken();
  await pool.query(sql`
    insert into sample (ts, component_id, region_id, good)
    select now(), component_id, 1, true from component where venue_id = ${kraken.venueId}
  `);

  const without = { ...registry, venues: registry.venues.filter(({ id }) => id !== "kraken") };
  await migrate(pool, without, log);
  t.strictSame(
    await ofKraken(),
    { ...kraken, published: false },
    "a venue removed from the registry is unpublished, and not deleted",
  );
  await migrate(pool, registry, log);
  t.strictSame(await ofKraken(), kraken, "the venue returns under its former id");
  t.ok((await pool.query(sql`select from sample`)).length > 0, "the venue keeps its history");

  const changed = structuredClone(registry);
  const venue = changed.venues.find(({ id }) => id === "kraken")!;
  venue.name = "Kraken Pro";
  const gone = venue.rest.shift()!;
  changed.regions.splice(1, 1);
  await migrate(pool, changed, log);
  const names = await pool.query(sql`select name from venue where venue = 'kraken'`);
  t.strictSame(names, [{ name: "Kraken Pro" }], "a venue's new name is stored");
  const hidden = sql`select component from component where venue_id = ${kraken.venueId} and not published`;
  t.strictSame(await pool.query(hidden), [{ component: `rest:${gone.name}` }], "a removed component is unpublished");
  const regions = await pool.query(sql`select region from region where published order by position`);
  const left = changed.regions.map(({ id }) => ({ region: id }));
  t.strictSame(regions, left, "a removed region is unpublished");

  await t.test("repeated starts use up no ids", async (t) => {
    const drawn = () =>
      pool.query(sql`select sequencename, last_value from pg_sequences where schemaname = 'venuewatch' order by 1`);
    await migrate(pool, registry, log);
    const before = await drawn();
    await syncRegistry(pool, registry);
    t.strictSame(await drawn(), before);
  });

  await t.test("a feed whose address changes keeps its notices", async (t) => {
    const sources = () =>
      pool.query<{ venue: string; feed_id: number; api: string }>(sql`
        select v.venue, feed_id, s.api
        from venue v
        join feed s using (feed_id)
        where v.venue in ('kraken', 'kraken-futures', 'deribit') and s.published
        order by v.position
      `);
    await syncRegistry(pool, registry);
    const before = await sources();
    const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000);
    const one = notice("a", at(50));
    await said(pool, "kraken", at(9), [whole(one)]);

    const moved = structuredClone(registry);
    const api = "https://elsewhere.example/api/v2/incidents.json";
    for (const { official } of moved.venues) if (official?.page === "https://status.kraken.com") official.api = api;
    await syncRegistry(pool, moved);
    t.strictSame(
      await sources(),
      before.map((row) =>
        row.venue.startsWith("kraken") ? { ...row, api: "https://elsewhere.example/… (kraken)" } : row,
      ),
    );
    const kept = () => pool.query(sql`select vanished, left_at is null as listed from notice`);
    t.strictSame(await kept(), [{ vanished: false, listed: false }]);
    await said(pool, "kraken", at(1), [whole(one)]);
    t.strictSame(await kept(), [{ vanished: false, listed: true }]);
    t.equal((await pool.query(sql`select from notice_change`)).length, 1, "no change is recorded");

    const other = structuredClone(moved);
    for (const { official } of other.venues) if (official?.api === api) official.kind = "betterstack";
    await syncRegistry(pool, other);
    t.equal((await sources())[0]!.feed_id, before[0]!.feed_id);
  });
});

async function refusedWithoutRights(t: Test, url: string): Promise<void> {
  const pool = poolOn(t, url, { max: 1 });
  const [database] = await pool.query<{ name: string }>(sql`select current_database() as name`);
  const name = `migrator_${randomBytes(6).toString("hex")}`;
  await pool.script(`create role ${name}`);
  await pool.script(becoming(name));
  await t.rejects(migrate(pool, registry, log), {
    name: "UserError",
    message: new RegExp(
      `^Only a superuser, or the database's owner .+; ${name} is neither. ` +
        `Ask an administrator for: alter database ${database!.name} owner to ${name}; .*grant vw_core to ${name}.*; grant vw_definer to ${name}`,
    ),
  });
  await pool.script("reset role");
  await pool.script(`drop role ${name}`);
}

function appliedAt(pool: Pool) {
  return pool.query(sql`select name, applied_at from venuewatch.migration order by name`);
}

async function definitionsStand(pool: Pool): Promise<boolean> {
  const [row] = await pool.query<{ stand: boolean }>(sql`
    select upkeep.refused_after() = interval '7 days' and not engine_fresh as stand from api.clock
  `);
  return row!.stand;
}
