/** Metadata statements that tools send before users ask anything, and psql's backslash commands. */
import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import type { Client } from "pg";
import type { Test } from "tap";

/** Worded as the tools send them, with bound values filled in. */
const statements = {
  "psql, \\d of a relation": `
    select c.relchecks, c.relkind, c.relhasindex, c.relrowsecurity, c.relispartition, c.reloftype, c.relreplident, am.amname
    from pg_catalog.pg_class c
    left join pg_catalog.pg_class tc on (c.reltoastrelid = tc.oid)
    left join pg_catalog.pg_am am on (c.relam = am.oid)
    where c.relkind in ('r', 'v')`,
  "psql, \\dt+": `
    select n.nspname, c.relname, c.relkind, pg_catalog.pg_get_userbyid(c.relowner), am.amname,
      pg_catalog.pg_size_pretty(pg_catalog.pg_table_size(c.oid)), pg_catalog.obj_description(c.oid, 'pg_class')
    from pg_catalog.pg_class c
    left join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    left join pg_catalog.pg_am am on am.oid = c.relam
    where c.relkind in ('r', 'p', '') and n.nspname !~ '^pg_toast' and pg_catalog.pg_table_is_visible(c.oid)`,
  "DBeaver, databases": `
    select db.oid, db.* from pg_catalog.pg_database db where datallowconn and not datistemplate or db.datname = 'template1' order by db.datname`,
  "DBeaver, roles": "select a.oid, a.* from pg_catalog.pg_roles a order by a.rolname",
  "DBeaver, access methods": "select am.oid, am.* from pg_catalog.pg_am am order by am.oid",
  "DBeaver, tablespaces": `
    select t.oid, t.*, pg_tablespace_location(t.oid) loc from pg_catalog.pg_tablespace t order by t.oid`,
  "DBeaver, schemas": `
    select n.oid, n.*, d.description from pg_catalog.pg_namespace n
    left outer join pg_catalog.pg_description d on d.objoid = n.oid and d.objsubid = 0 and d.classoid = 'pg_namespace'::regclass`,
  "DBeaver, types": `
    select t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) as base_type_name, d.description
    from pg_catalog.pg_type t
    left outer join pg_catalog.pg_type et on et.oid = t.typelem
    left outer join pg_catalog.pg_class c on c.oid = t.typrelid
    left outer join pg_catalog.pg_description d on t.oid = d.objoid
    where t.typname is not null and (c.relkind is null or c.relkind = 'c') and (et.typcategory is null or et.typcategory <> 'C')`,
  "DBeaver, relations": `
    select c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr, pg_catalog.pg_get_partkeydef(c.oid) as partition_key
    from pg_catalog.pg_class c
    left outer join pg_catalog.pg_description d on d.objoid = c.oid and d.objsubid = 0 and d.classoid = 'pg_class'::regclass
    where c.relkind not in ('i', 'I', 'c')`,
  "DBeaver, casts and operators": `
    select (select count(*) from pg_catalog.pg_cast), (select count(*) from pg_catalog.pg_operator), (select count(*) from pg_catalog.pg_opclass),
      (select count(*) from pg_catalog.pg_conversion), (select count(*) from pg_catalog.pg_range), (select count(*) from pg_catalog.pg_ts_parser)`,
  "pgAdmin, databases": `
    select db.oid as did, db.datname as name, ta.spcname, db.datallowconn, pg_catalog.has_database_privilege(db.oid, 'CREATE') as cancreate, descr.description
    from pg_catalog.pg_database db
    left outer join pg_catalog.pg_tablespace ta on db.dattablespace = ta.oid
    left outer join pg_catalog.pg_shdescription descr on (db.oid = descr.objoid and descr.classoid = 'pg_database'::regclass)`,
  "pgAdmin, own role": `
    select r.oid as id, r.rolname as name, r.rolsuper as is_superuser, r.rolsuper or r.rolcreaterole as can_create_role, 'pg_signal_backend' = any (array(
      with recursive cte as (
        select oid, rolname from pg_roles where oid = r.oid
        union all
        select m.roleid, pgr.rolname from cte join pg_auth_members m on m.member = cte.oid join pg_roles pgr on pgr.oid = m.roleid
      )
      select rolname from cte
    )) as can_signal_backend
    from pg_catalog.pg_roles r where rolname = current_user`,
  "pgAdmin, schemas": `
    select nsp.oid, nsp.nspname as name, has_schema_privilege(nsp.oid, 'CREATE') as can_create, has_schema_privilege(nsp.oid, 'USAGE') as has_usage, descr.description
    from pg_catalog.pg_namespace nsp
    left outer join pg_catalog.pg_description descr on descr.objoid = nsp.oid and descr.classoid = 'pg_namespace'::regclass
    where nspname not like 'pg!_%' escape '!'`,
  "pgAdmin, dashboard":
    "select (select count(*) from pg_catalog.pg_stat_activity where state = 'active') as active, (select sum(xact_commit + xact_rollback) from pg_catalog.pg_stat_database) as transactions",
  "pgAdmin, views of others":
    "select c.oid, pg_catalog.pg_get_viewdef(c.oid, true) from pg_catalog.pg_class c where c.relkind = 'v'",
  "JDBC, tables": `
    select null as table_cat, n.nspname as table_schem, c.relname as table_name, d.description as remarks
    from pg_catalog.pg_namespace n, pg_catalog.pg_class c
    left join pg_catalog.pg_description d on (c.oid = d.objoid and d.objsubid = 0 and d.classoid = 'pg_class'::regclass)
    where c.relnamespace = n.oid
    order by table_schem, table_name`,
  "JDBC, indexes and constraints":
    "select (select count(pg_get_constraintdef(oid)) from pg_catalog.pg_constraint), (select count(pg_get_indexdef(indexrelid)) from pg_catalog.pg_index)",
  "JDBC, columns": `
    select current_database() as current_database, n.nspname, c.relname, a.attname, a.atttypid,
      a.attnotnull or (t.typtype = 'd' and t.typnotnull) as attnotnull, a.atttypmod, a.attlen, t.typtypmod,
      row_number() over (partition by a.attrelid order by a.attnum) as attnum, nullif(a.attidentity, '') as attidentity,
      pg_catalog.pg_get_expr(def.adbin, def.adrelid) as adsrc, dsc.description, t.typbasetype, t.typtype
    from pg_catalog.pg_namespace n
    join pg_catalog.pg_class c on (c.relnamespace = n.oid)
    join pg_catalog.pg_attribute a on (a.attrelid = c.oid)
    join pg_catalog.pg_type t on (a.atttypid = t.oid)
    left join pg_catalog.pg_attrdef def on (a.attrelid = def.adrelid and a.attnum = def.adnum)
    left join pg_catalog.pg_description dsc on (c.oid = dsc.objoid and a.attnum = dsc.objsubid)
    where c.relkind in ('r', 'p', 'v', 'f', 'm') and a.attnum > 0 and not a.attisdropped`,
  "JDBC, primary keys": `
    select n.nspname, ct.relname, a.attname, (information_schema._pg_expandarray(i.indkey)).n, ci.relname
    from pg_catalog.pg_class ct
    join pg_catalog.pg_attribute a on (ct.oid = a.attrelid)
    join pg_catalog.pg_namespace n on (ct.relnamespace = n.oid)
    join pg_catalog.pg_index i on (a.attrelid = i.indrelid)
    join pg_catalog.pg_class ci on (ci.oid = i.indexrelid)
    where i.indisprimary`,
  "JDBC, types": `
    select t.typname, t.oid from pg_catalog.pg_type t join pg_catalog.pg_namespace n on (t.typnamespace = n.oid) where n.nspname != 'pg_toast'`,
  "Grafana, version": "select current_setting('server_version_num')::int / 100 as version",
  "Grafana, TimescaleDB": "select extversion from pg_extension where extname = 'timescaledb'",
  "Grafana, tables": `
    select case
      when quote_ident(table_schema) in (
        select case when trim(s[i]) = '"$user"' then user else trim(s[i]) end
        from generate_series(
          array_lower(string_to_array(current_setting('search_path'), ','), 1),
          array_upper(string_to_array(current_setting('search_path'), ','), 1)
        ) as i, string_to_array(current_setting('search_path'), ',') s
      ) then quote_ident(table_name)
      else quote_ident(table_schema) || '.' || quote_ident(table_name)
    end as "table"
    from information_schema.tables
    where quote_ident(table_schema) not in ('information_schema', 'pg_catalog', '_timescaledb_catalog', '_timescaledb_internal', '_timescaledb_config', '_timescaledb_cache')
    order by 1`,
  "Grafana, columns": `select quote_ident(column_name) as "column", data_type as "type" from information_schema.columns`,
};

/** Catalogues that every user may normally read, but this user may not. */
const closedOnes = `
  select c.relname::text as name
  from pg_catalog.pg_class c
  cross join aclexplode(c.relacl) a
  where c.relnamespace in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) and a.grantee = 0 and a.privilege_type = 'SELECT'
    and not has_table_privilege(c.oid, 'select')`;

export async function metadataIsAnswered(t: Test, client: Client): Promise<void> {
  t.strictSame((await client.query(closedOnes)).rows, []);
  for (const [name, text] of Object.entries(statements)) await t.resolves(client.query(text), name);
}

export const psqlMissing = spawnSync("psql", ["--version"]).error !== undefined && "psql is not installed";

const commands = [
  ...["\\d", "\\d+", "\\dt+", "\\dv+", "\\df", "\\dn+", "\\du"],
  ...["\\db", "\\dx", "\\dA", "\\dp", "\\dT+", "\\dC", "\\do", "\\dD"],
];

/** psql of 15 and 16 queries a column that PostgreSQL 17 has renamed. */
function databasesListed(): string[] {
  const { stdout } = spawnSync("psql", ["--version"], { encoding: "utf8" });
  return Number(/\d+/.exec(stdout)?.[0]) >= 17 ? ["\\l+"] : [];
}

/** @param more commands for objects of this database */
export async function psqlDescribes(t: Test, url: string, more: readonly string[] = []): Promise<void> {
  const all = [...commands, ...databasesListed(), ...more];
  const args = all.flatMap((command) => ["-c", command]);
  const { stderr } = await promisify(execFile)(
    "psql",
    ["-X", "-w", "-o", "/dev/null", "-v", "ON_ERROR_STOP=1", ...args, url],
    { maxBuffer: 2 ** 26 },
  );
  t.notMatch(stderr, "ERROR");
}
