/** Schema analytics as an interface: it is documented, its readers reach nothing else, and their limits take effect. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import pg from "pg";
import t, { type Test } from "tap";
import { sql } from "../../shared/database/pool.js";
import { packagedFile } from "../../shared/config/package.js";
import { scramVerifier } from "@venuewatch/embedded-timescaledb/scram";
import { analystsAsk } from "../support/analysts.js";
import { serve } from "../support/api.js";
import { migratedDatabase } from "../support/database.js";
import { makeDemoPast } from "../support/demo-past.js";
import { analystOf } from "../support/page-of-statements.js";
import { superuserMissing } from "../support/rights.js";

const page = readFileSync(packagedFile("docs/analysts.md"), "utf8");
const onServer = process.env.DATABASE_URL !== undefined;
const withoutSuperuser = await superuserMissing();
const { ANALYSTS_DAYS, ANALYSTS_LIMITS } = process.env;

void t.test("the analysts' interface", async (t) => {
  const { pool, url } = await migratedDatabase(t);

  await t.test("documents every view, column and function", async (t) => {
    const silent = await pool.query(sql`
      select format('%s.%s', c.relname, a.attname) as what
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
      where c.relnamespace = 'analytics'::regnamespace and col_description(c.oid, a.attnum) is null
      union all
      select c.relname
      from pg_class c
      where c.relnamespace = 'analytics'::regnamespace and obj_description(c.oid, 'pg_class') is null
      union all
      select p.oid::regprocedure::text
      from pg_proc p
      where p.pronamespace = 'analytics'::regnamespace and obj_description(p.oid, 'pg_proc') is null
      union all
      select 'the schema' where obj_description('analytics'::regnamespace, 'pg_namespace') is null
    `);
    t.strictSame(silent, []);
    // the page wraps prose and pads tables
    const plain = page.replace(/\s+/g, " ");
    const columns = await pool.query<{ view: string; line: string }>(sql`
      select
        c.relname as view,
        format(
          '| \`%s\` | %s | %s |',
          a.attname,
          replace(format_type(a.atttypid, a.atttypmod), 'timestamp with time zone', 'timestamptz'),
          col_description(c.oid, a.attnum)
        ) as line
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
      where c.relnamespace = 'analytics'::regnamespace
      union all
      select c.relname, obj_description(c.oid, 'pg_class')
      from pg_class c
      where c.relnamespace = 'analytics'::regnamespace
    `);
    const described = (view: string) => plain.split(`### \`analytics.${view}\``)[1]?.split("###")[0] ?? "";
    for (const { view, line } of columns)
      t.match(described(view), line, `docs/analysts.md lists the column below ${view}`);
    const names = await pool.query<{ name: string }>(sql`
      select c.relname as name from pg_class c where c.relnamespace = 'analytics'::regnamespace
      union
      select p.proname from pg_proc p where p.pronamespace = 'analytics'::regnamespace
    `);
    t.ok(names.length > 25);
    for (const { name } of names) t.match(page, `analytics.${name}`, `docs/analysts.md describes ${name}`);
  });

  await t.test("is all that an analyst can read", async (t) => {
    const readable = await pool.query(sql`
      select format('%I.%I', n.nspname, c.relname) as relation
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'v', 'm', 'f', 'p', 'S')
        and n.nspname not in ('analytics', 'information_schema', 'pg_catalog')
        -- what TimescaleDB shows of itself to everybody
        and not exists (
          select from pg_depend d
          where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.refclassid = 'pg_extension'::regclass
        )
        and (
          has_table_privilege('vw_analyst', c.oid, 'select, insert, update, delete, truncate')
          or has_any_column_privilege('vw_analyst', c.oid, 'select, insert, update')
        )
    `);
    t.strictSame(readable, []);
    const schemas = await pool.query(sql`
      select n.nspname as schema
      from pg_namespace n
      -- the right to temporary tables is one on the database (sql/database/roles.sql)
      where n.nspname !~ '^pg_temp_' and has_schema_privilege('vw_analyst', n.oid, 'create')
        or n.nspname in ('venuewatch', 'api', 'engine', 'upkeep', 'logins') and has_schema_privilege('vw_analyst', n.oid, 'usage')
    `);
    t.strictSame(schemas, []);
  });

  await t.test("answers the statements before the questions of docs/analysts.md", async (t) => {
    const analyst = await analystOf(t, url);
    const [before = ""] = page.split("## Twenty questions");
    const statements = [...before.matchAll(/```sql\n(.*?)```/gs)].flatMap(([, text = ""]) => text.split(";\n"));
    t.ok(statements.length > 1);
    for (const statement of statements) await t.resolves(analyst.query(statement), statement);
  });

  await t.test("lets an analyst neither write nor run anything", async (t) => {
    const analyst = await analystOf(t, url);
    for (const statement of [
      "select * from venuewatch.sample",
      "select * from api.clock",
      "select engine.rules_at(now())",
      "call upkeep.retain(now())",
      "select logins.keep('me', 'core', 'x', null, true)",
      // views of a single table could be written through
      "update analytics.rules_in_force set rules = '{}'",
      "delete from analytics.feed_entries",
      "create view analytics.mine as select 1",
      "create or replace function analytics.evidence(slug text, decision text default 'opening') returns jsonb language sql return null",
      "alter function analytics.evidence owner to vw_analyst",
      "create table public.mine ()",
      // sql/database/superuser.sql revokes these from everybody
      ...(withoutSuperuser ? [] : takenFromEverybody),
      "create temporary table mine ()",
    ])
      await t.rejects(analyst.query(statement), { code: "42501" }, statement);
  });

  await t.test("runs only the necessary functions with another role's rights", async (t) => {
    const lent = await pool.query(sql`
      select
        p.proname as name,
        p.proowner::regrole::text as owner,
        (select c from unnest(p.proconfig) c where c like 'search_path=%') as path,
        array(
          select coalesce(nullif(a.grantee, 0)::regrole::text, 'public')
          from aclexplode(p.proacl) a
          where a.grantee <> p.proowner
        ) as callers
      from pg_proc p
      where p.prosecdef and p.pronamespace = 'analytics'::regnamespace
      order by 1
    `);
    const as = { owner: "vw_definer", path: "search_path=venuewatch, pg_temp", callers: ["vw_analyst"] };
    t.strictSame(
      lent,
      ["evidence", "heads_backwards", "pairings_between"].map((name) => ({ name, ...as })),
      "functions run with the rights of a role that cannot write, and with a fixed search path",
    );
    const elsewhere = await pool.query(sql`
      select
        case when p.pronamespace = 'upkeep'::regnamespace then p.oid::regproc::text else p.oid::regprocedure::text end
          as name,
        p.proowner::regrole::text as owner
      from pg_proc p
      where p.prosecdef and p.pronamespace::regnamespace::text in ('venuewatch', 'api', 'engine', 'upkeep', 'logins')
      order by 1
    `);
    t.strictSame(
      elsewhere,
      [
        { name: "api.heard_of_primary()", owner: "vw_definer" },
        { name: "api.maintenance_counts(timestamp with time zone,timestamp with time zone)", owner: "vw_definer" },
        { name: "api.open_venue_hours(timestamp with time zone,timestamp with time zone)", owner: "vw_definer" },
        { name: "api.wal_bytes()", owner: "vw_definer" },
        ...["record_samples", "release_venue_leases", "renew_probe", "require_region", "share_venue_leases"].map(
          (name) => ({ name: `upkeep.${name}`, owner: "vw_core" }),
        ),
      ],
      "elsewhere, only web's queries about its server and probes' writes need another role's rights",
    );
    const owner = await pool.query<{ may: string[]; members: number; login: boolean }>(sql`
      select
        rolcanlogin as login,
        (select count(*)::int from pg_auth_members m where m.roleid = r.oid and m.member in (
          select oid from pg_roles where rolname in ('vw_probe', 'vw_core', 'vw_web', 'vw_analyst'))) as members,
        array(
          select g.rolname::text from pg_auth_members m join pg_roles g on g.oid = m.roleid where m.member = r.oid order by 1
        ) as may
      from pg_roles r
      where r.rolname = 'vw_definer'
    `);
    // roles belong to the server, on which a superuser may have migrated another database
    const fromSuperuser = "pg_read_all_stats";
    if (withoutSuperuser && !owner[0]!.may.includes(fromSuperuser)) owner[0]!.may.unshift(fromSuperuser);
    t.strictSame(owner, [{ login: false, members: 0, may: [fromSuperuser, "vw_web"] }]);
    const analyst = await analystOf(t, url);
    for (const statement of [
      `select analytics.evidence('x''; drop table incident; --')`,
      `select analytics.evidence(null)`,
      `select * from analytics.heads_backwards('-infinity', 'infinity')`,
      `select * from analytics.pairings_between('infinity', '-infinity')`,
    ])
      await t.resolves(analyst.query(statement), statement);
  });
});

void t.test(
  "an analyst's queries over ninety days of the demo",
  { skip: ANALYSTS_DAYS ? false : "make proofs runs them" },
  async (t) => {
    const { pool, url, registry } = await migratedDatabase(t);
    await makeDemoPast(pool, registry, Number(ANALYSTS_DAYS));
    const api = await serve(t, { pool, registry });
    await analystsAsk(t, { pool, api, url });
  },
);

const takenFromEverybody = [
  "select lo_create(0)",
  "select lo_from_bytea(0, 'x')",
  "select public.add_job('pg_sleep', '1 hour')",
  // writes to the log that replicas receive, even in a read-only session
  "select pg_logical_emit_message(false, 'x', 'x')",
  "select pg_notify('x', 'x')",
  "select pg_current_xact_id()",
  "select txid_current()",
  "select pg_logical_emit_message(true, 'x', '\\x00'::bytea)",
  // with these, one session could use up the locks that all share, or hold ours
  ...["lock", "xact_lock", "lock_shared", "xact_lock_shared"].flatMap((kind) => [
    `select pg_advisory_${kind}(1)`,
    `select pg_advisory_${kind}(1, 1)`,
    `select pg_try_advisory_${kind}(1)`,
    `select pg_try_advisory_${kind}(1, 1)`,
  ]),
];

void t.test(
  "the limits of an analyst's login",
  { skip: onServer ? withoutSuperuser : "the embedded database has neither logins nor limits" },
  async (t) => {
    const { pool, url } = await migratedDatabase(t);
    const name = `analyst_${randomBytes(6).toString("hex")}`;
    t.teardown(() => pool.script(`drop role if exists ${name}`));
    await pool.file("store_login", [name, "analyst", scramVerifier("x"), null, false, null]);

    await t.test("are the documented ones", async (t) => {
      const wanted = await pool.query<{ setting: string; value: string }>(
        sql`select setting, value from logins.setting where kind = 'analyst' order by 1`,
      );
      t.ok(wanted.length >= 4);
      const client = await connectAs(t, url, name);
      for (const { setting, value } of wanted) {
        const { rows } = await client.query("select current_setting($1) as value", [setting]);
        t.strictSame(rows, [{ value }], setting);
        t.match(page, `\`${setting}\``, "docs/analysts.md states the limit");
      }
      const group = await pool.query(sql`
        select split_part(c, '=', 1) as setting, split_part(c, '=', 2) as value
        from pg_db_role_setting s
        cross join unnest(s.setconfig) c
        where s.setrole = 'vw_analyst'::regrole
          and s.setdatabase = (select d.oid from pg_database d where d.datname = current_database())
        order by 1
      `);
      t.strictSame(group, wanted, "vw_analyst itself has the same limits, should it be allowed to log in");
      await t.rejects(client.query("create table public.mine ()"), { code: "25006" }, "the session is read-only");
      for (const statement of ["set role vw_web", "select * from venuewatch.sample", `alter role ${name} reset all`])
        await t.rejects(client.query(statement), { code: /42501|25006/ });
    });

    await t.test("end a runaway query", async (t) => {
      // set as for a login, but smaller: reaching the documented limits would take minutes
      if (!ANALYSTS_LIMITS)
        await pool.script(`
          alter role ${name} set statement_timeout = '2s';
          alter role ${name} set temp_file_limit = '2MB';
        `);
      const client = await connectAs(t, url, name);
      const froms = ["a", "b", "c", "d", "e", "f"].map((name) => `analytics.components ${name}`);
      for (const [code, statement] of [
        // an analyst cannot lift the limit on temporary files
        ["42501", "set temp_file_limit = -1"],
        // a huge sort, of wide rows, so that they reach the limit before the timeout
        [
          "53400",
          "select * from (select n, repeat(n::text, 200) as wide from generate_series(1, 40000000) n order by md5(n::text)) s offset 39999999",
        ],
        ["57014", `select count(*) from ${froms.join()}`],
      ] as const)
        await t.rejects(client.query(statement), { code }, statement);
      const { rows } = await client.query("select 1 as one");
      t.strictSame(rows, [{ one: 1 }], "the connection remains usable");
    });
  },
);

async function connectAs(t: Test, url: string, user: string): Promise<pg.Client> {
  const address = new URL(url);
  address.username = user;
  const client = new pg.Client(address.href);
  await client.connect();
  t.teardown(() => client.end());
  return client;
}
