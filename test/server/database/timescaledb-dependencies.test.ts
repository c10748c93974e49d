/** TimescaleDB may change its internals in any release, and an upgrade drops and recreates its views. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { sql } from "../../../shared/database/pool.js";
import { packagedFile } from "../../../shared/config/package.js";
import { migratedDatabase } from "../../support/database.js";

void t.test("no object of ours prevents the extension from replacing its relations", async (t) => {
  const { pool } = await migratedDatabase(t);
  // Parsed objects depend on each relation and function that they name: a view by its rule, and a function whose body
  // is not a string. Chunks and the tables beneath roll-ups are not members of the extension.
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

void t.test("no source names TimescaleDB's internals", (t) => {
  const folders = ["sql", "server", "probe", "bench", "deploy", "docs"];
  const files = folders.flatMap((folder) =>
    readdirSync(packagedFile(folder), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.(sql|ts|md|conf|yaml|yml)$/.test(path))
      .map((path) => join(folder, path)),
  );
  t.ok(files.length > 200, `${files.length} files`);
  const naming = files.filter((path) =>
    /_timescaledb_|timescaledb_experimental/.test(readFileSync(packagedFile(path), "utf8")),
  );
  t.same(naming, []);
  t.end();
});
