/** TimescaleDB may change what it does not publish in any release, and an upgrade of it drops and remakes its views. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { sql } from "../../../shared/database/pool.js";
import { packagedFile } from "../../../shared/config/package.js";
import { advice, isTested, tested } from "../../../server/database/require-extension.js";
import { migratedDatabase } from "../../support/database.js";

void t.test("nothing of ours keeps the extension from replacing its relations", async (t) => {
  const { pool } = await migratedDatabase(t);
  // What the parser has seen depends on each relation and function that it names: a view by its rule, and a function
  // whose body is not a string. Chunks, and what is beneath roll-ups, are no members of the extension.
  const used = await pool.query<{ ours: string; theirs: string }>(sql`
      with members as (
        select d.classid, d.objid
        from pg_depend d
        join pg_extension e on e.oid = d.refobjid
        where d.refclassid = 'pg_extension'::regclass and d.deptype = 'e' and e.extname = 'timescaledb'
      )
      select
        pg_describe_object(d.classid, d.objid, 0) as ours,
        (pg_identify_object(d.refclassid, d.refobjid, 0)).schema || ' ' || (pg_identify_object(d.refclassid, d.refobjid, 0)).type as theirs
      from pg_depend d
      left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
      join members on (members.classid, members.objid) = (d.refclassid, d.refobjid)
      where (d.classid = 'pg_proc'::regclass or r.oid is not null)
        and not exists (
          select
          from members m
          where (m.classid, m.objid) = (d.classid, d.objid)
            or m.classid = 'pg_class'::regclass and m.objid = r.ev_class
        )
      order by 1
    `);
  t.ok(
    used.some(({ theirs }) => theirs === "public function"),
    "time_bucket is found",
  );
  t.same(
    used.filter(({ theirs }) => theirs !== "public function"),
    [],
  );
});

void t.test("no source names what TimescaleDB keeps to itself", (t) => {
  const folders = ["sql", "server", "probe", "bench", "production", "docs"];
  const files = folders.flatMap((folder) =>
    readdirSync(packagedFile(folder), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.(sql|ts|md|conf|yaml|yml)$/.test(path))
      .map((path) => join(folder, path)),
  );
  t.ok(files.length > 200, `${files.length} files`);
  const naming = files.filter((path) =>
    /_timescaledb_|timescaledb_experimental/.test(readFileSync(packagedFile(path), "utf8")),
  );
  // it was applied, so it stays; the indexes that it drops are ours
  t.same(naming, ["sql/schema/013-shorter-chunks.sql"]);
  t.end();
});

void t.test("versions beyond what was tested are known as such", (t) => {
  const { oldest, newest } = tested.timescaledb;
  const of = (timescaledb: string, postgres: number) => isTested({ timescaledb, postgres: `${postgres}.3` });
  t.ok(of(`${oldest}.0-dev`, tested.postgres.newest));
  t.ok(of(`${newest}.99`, tested.postgres.oldest));
  t.notOk(of("2.9.3", tested.postgres.newest), "older, though it sorts after");
  t.notOk(of("2.130.0", tested.postgres.newest));
  t.notOk(of("3.0.0", tested.postgres.newest));
  t.notOk(of(`${newest}.0`, tested.postgres.oldest - 1));
  t.notOk(of(`${newest}.0`, tested.postgres.newest + 1));
  t.match(advice({ timescaledb: "2.9.3", postgres: "17.3" }), "TimescaleDB");
  t.match(advice({ timescaledb: newest, postgres: "14.3" }), "PostgreSQL");
  t.match(advice({ timescaledb: "3.0.0", postgres: "17.3" }), "venuewatch");
  t.end();
});
