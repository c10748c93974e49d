/** Each login has the rights and limits of its role, and its password is stored only in its file. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import t, { type Test } from "tap";
import { type Pool, sql } from "../../../shared/database/pool.js";
import { scramVerifier } from "@venuewatch/embedded-timescaledb/scram";
import { cliWith } from "../../support/cli-input.js";
import { migratedDatabase } from "../../support/database.js";
import { superuserMissing } from "../../support/rights.js";

const onServer = process.env.DATABASE_URL !== undefined;
const withoutSuperuser = await superuserMissing();
const password = "hunter2hunter2hunter2";

void t.test("logins have their role's rights and limits, and hide their passwords", async (t) => {
  const { pool, url } = await migratedDatabase(t);

  await t.test("the server accepts the password by its verifier", { skip: withoutSuperuser }, async (t) => {
    const name = newLogin(t, pool);
    await pool.script(`create role ${name} login password '${password}'`);
    const [row] = await pool.query<{ kept: string }>(
      sql`select rolpassword as kept from pg_authid where rolname = ${name}`,
    );
    const [, salt = ""] = /^SCRAM-SHA-256\$4096:([^$]+)\$/.exec(row!.kept) ?? [];
    t.equal(scramVerifier(password, Buffer.from(salt, "base64")), row!.kept);
    t.not(scramVerifier(password), scramVerifier(password), "each verifier has a new salt");
  });

  await t.test("a login has its role's rights and limits", async (t) => {
    const name = newLogin(t, pool);
    const verifier = scramVerifier(password);
    const keep = (kind: string, connections: number | null = null) =>
      pool.file("store_login", [name, kind, verifier, connections, false, kind === "probe" ? "us-east" : null]);

    /** The setting that needs a superuser. */
    const files = (limit: string) =>
      withoutSuperuser
        ? { settings: [], left: [`alter role ${name} set temp_file_limit = '${limit}'`] }
        : { settings: [`temp_file_limit=${limit}`], left: [] };

    t.same(await keep("analyst"), [{ connections: 5, leftToSuperuser: files("4GB").left }]);
    const analyst = {
      ...{ memberOf: ["vw_analyst"], connections: 5, replication: false, superuser: false },
      settings: [
        "default_transaction_read_only=on",
        "idle_in_transaction_session_timeout=10min",
        "idle_session_timeout=1h",
        'search_path="$user", analytics, public',
        "statement_timeout=5min",
        ...files("4GB").settings,
      ],
    };
    t.same(await seen(pool, name), analyst);
    await keep("analyst");
    t.same(await seen(pool, name), analyst, "repeating it changes nothing");

    t.same(await keep("probe", 7), [{ connections: 7, leftToSuperuser: files("100MB").left }]);
    const settings = ["idle_in_transaction_session_timeout=1min", "statement_timeout=1min", ...files("100MB").settings];
    const probe = { ...analyst, memberOf: ["vw_probe"], connections: 7, settings };
    t.same(await seen(pool, name), probe, "a login that changes its role keeps nothing of the old one");

    if (withoutSuperuser) {
      await t.rejects(keep("replica"), { code: "42501" });
      return;
    }
    const regions = () => pool.query(sql`select region from probe_login where login = ${name}`);
    t.same(await regions(), [{ region: "us-east" }]);
    await keep("replica");
    t.same(await regions(), [], "and delivers for no region any more");
    t.match(await seen(pool, name), { memberOf: [], replication: true, settings: [] });
    await t.rejects(keep("web"), { code: "42939", message: /attributes that a login must not have: replication/ });
  });

  await t.test("roles that are not ours are never changed", async (t) => {
    const name = newLogin(t, pool);
    const power = withoutSuperuser ? "createdb" : "superuser";
    await pool.script(`create role ${name} ${power}`);
    const [superuser] = await pool.query<{ name: string }>(
      sql`select rolname as name from pg_roles where rolsuper limit 1`,
    );
    for (const taken of [name, "vw_web", "pg_monitor", superuser!.name])
      await t.rejects(pool.file("store_login", [taken, "web", "x", null, false, null]), { code: "42939" }, taken);
    t.match(await seen(pool, name), { superuser: !withoutSuperuser, memberOf: [] });
  });

  await t.test("an analyst may have a schema of its own, and has no right in any other", async (t) => {
    const [name, other] = [newLogin(t, pool), newLogin(t, pool)];
    const keep = (login: string, ownSchema: boolean, kind = "analyst") =>
      pool.file("store_login", [login, kind, "x", null, ownSchema, null]);
    t.teardown(() => dropOwned(pool, name));
    await keep(name, true);
    await keep(other, false);
    for (const login of [name, other]) await pool.script(joining(login));
    const isReadOnly = async (login: string) =>
      (await seen(pool, login)).settings.some((one) => one.startsWith("default_transaction_read_only"));
    t.notOk(await isReadOnly(name));
    t.ok(await isReadOnly(other));
    await keep(name, false);
    t.notOk(await isReadOnly(name), "a new password takes nothing away");

    const as = (login: string, statement: string) =>
      pool.transaction(async (tx) => {
        await tx.script(`set local role ${login}`);
        await tx.script(statement);
      });
    for (const statement of [
      `create table ${name}.venues_of_mine as select venue, state from analytics.venues`,
      `create view ${name}.down as select * from analytics.state_changes where state = 'outage'`,
      `insert into ${name}.venues_of_mine values ('mine', 'unknown'); drop view ${name}.down`,
      `grant usage on schema ${name} to ${other}; grant select on all tables in schema ${name} to ${other}`,
    ])
      await t.resolves(as(name, statement), statement);
    await t.resolves(as(other, `select * from ${name}.venues_of_mine`), "whom it lets in can read");
    for (const [login, statement] of [
      [other, `create table ${name}.theirs ()`],
      [other, `insert into ${name}.venues_of_mine values ('mine', 'unknown')`],
      [other, `create schema ${other}`],
      ...["public.mine", "analytics.mine", "venuewatch.mine", "engine.mine", `${name}_2.mine`].map(
        (table) => [name, `create table ${table} ()`] as const,
      ),
      [name, `create schema ${name}_2`],
      [name, "select * from venuewatch.sample"],
      [name, `grant create on schema ${name} to ${other}; create table analytics.x ()`],
    ] as const)
      await t.rejects(as(login, statement), { code: /42501|3F000/ }, statement);
    for (const taken of ["analytics", "venuewatch", "engine"]) {
      await t.rejects(keep(taken, true), { code: "42P06" }, taken);
      t.strictSame(await pool.query(sql`select from pg_roles where rolname = ${taken}`), [], "and no login was made");
    }
  });

  await t.test("the connections of all roles fit into a server's limit", async (t) => {
    const sum = await pool.query(sql`
      select sum(logins.connections_of(kind)) as all
      from unnest(array['probe', 'probe', 'probe', 'core', 'web', 'analyst']) kind
    `);
    // docs/production.md has the sum. Three of the hundred are reserved for a superuser, and replication is counted
    // separately
    t.strictSame(sum, [{ all: 89 }]);
  });

  await t.test("venuewatch login refuses wrong roles, names and password files", async (t) => {
    const dir = t.testdir({ good: `${password}\n`, short: "short\n", two: "a\nb" });
    const file = (name: string) => ["--password-file", join(dir, name)];
    const web = ["--role", "web"];
    const good = file("good");
    const mistakes: [args: string[], message: string | RegExp, databaseUrl?: string][] = [
      [["web1", ...good], "--role is missing"],
      [["web1", "--role", "king", ...good], "--role: expected one of probe, core, web"],
      [["web1", ...web], "--password-file is missing"],
      [["Web 1", ...web, ...good], "expected a name of lower-case letters"],
      [["web1", ...web, ...file("short")], "expected a password of 12 to 200"],
      [["web1", ...web, ...file("two")], "one line of text, but it has more than that"],
      [["web1", ...web, ...file("none")], "but it cannot be read (ENOENT)"],
      [["web1", ...web, ...good, "--own-schema"], "--own-schema only with --role analyst, got it with web"],
      [["web1", ...web, ...good, "--region", "eu"], "--region only with --role probe, got it with web"],
      [["probe1", "--role", "probe", ...good], "--region is missing"],
      [["probe1", "--role", "probe", ...good, "--region", "EU 1"], "expected --region with the id of a region"],
      [["web1", ...web, ...good, "--connections", "0"], "--connections: expected a whole number"],
      [["vw_web", ...web, ...good], "vw_web cannot be used"],
      [["web1", ...web, ...good], /embedded|nothing listens/, ""],
    ];
    for (const [args, message, databaseUrl = url] of mistakes) {
      const { code, err } = await cliWith(t, ["login", ...args], { DATABASE_URL: databaseUrl });
      t.equal(code, 2, String(message));
      t.match(err, message);
      t.notMatch(err, "hunter2");
    }
  });

  await t.test("a user without CREATEROLE learns all that an administrator must run", async (t) => {
    const [owner, name] = [newLogin(t, pool), newLogin(t, pool)];
    await pool.script(`create role ${owner}; grant usage on schema logins to ${owner};
      grant execute on all functions in schema logins to ${owner}; ${joining(owner)}`);
    t.teardown(() => dropOwned(pool, owner));
    const weak = new URL(url);
    weak.searchParams.set("options", `-c role=${owner}`);
    const file = join(t.testdir({ password: `${password}\n` }), "password");
    const askFor = async (...args: string[]) => {
      const login = ["login", name, "--role", "analyst", "--password-file", file, ...args];
      const { code, err } = await cliWith(t, login, { DATABASE_URL: weak.href });
      t.equal(code, 2, err);
      return /Ask an administrator for: (.*); and set its password/.exec(err)?.[1] ?? err;
    };
    const plain = `create role ${name} login connection limit 5; grant vw_analyst to ${name}`;
    t.equal(await askFor(), plain);
    const all = await askFor("--own-schema");
    t.ok(all.startsWith(`${plain}; create schema`), all);
    await pool.script(`${all}; ${joining(name)}`);
    t.teardown(() => dropOwned(pool, name));
    await t.resolves(
      pool.transaction(async (tx) => {
        await tx.script(`set local role ${name}`);
        await tx.script(`create table ${name}.mine (); grant usage on schema ${name} to ${owner}`);
      }),
    );
  });

  await t.test(
    "a login signs in with the password in its file, which nothing else reveals",
    { skip: onServer ? false : "the embedded database has no logins" },
    async (t) => {
      const name = newLogin(t, pool);
      const dir = t.testdir({});
      const file = join(dir, "password");
      writeFileSync(file, `${password}\n`);
      const args = ["login", name, "--role", "web", "--password-file"];
      const made = await cliWith(t, [...args, file], { DATABASE_URL: url, LOG_LEVEL: "debug" });
      const left = withoutSuperuser ? [`alter role ${name} set temp_file_limit = '1GB'`] : [];
      const rest = withoutSuperuser ? `These limits need a superuser; .*:\n  ${left[0]};\n` : "";
      const out = new RegExp(`^${name} is a login of role web, with at most 24 connections\n${rest}$`);
      t.match(made, { code: 0, out });
      t.notMatch(made.out + made.err, "hunter2");
      const piped = await cliWith(t, [...args, "-", "--json"], { DATABASE_URL: url }, `${password}\n`);
      t.same(JSON.parse(piped.out), { login: name, role: "web", connections: 24, leftToSuperuser: left });

      const address = new URL(url);
      address.username = name;
      const client = new pg.Client({ connectionString: address.href, password });
      await client.connect();
      t.teardown(() => client.end());
      const { rows } = await client.query(
        "select current_setting('statement_timeout') as time, current_setting('default_transaction_read_only') as only",
      );
      t.same(rows, [{ time: "20s", only: "on" }]);
      await t.resolves(client.query("select * from venuewatch.sample limit 1"));
      await t.rejects(client.query("delete from venuewatch.sample"));
    },
  );
});

/** A unique name, as logins belong to the whole server. Dropped when the test ends. */
function newLogin(t: Test, pool: Pool): string {
  const name = `login_${randomBytes(6).toString("hex")}`;
  t.teardown(() => pool.script(`drop role if exists ${name}`));
  return name;
}

/** The tests' user need not be a superuser: as a member, it may become the login and drop what that owns. */
const joining = (login: string) => `grant ${login} to current_user`;

async function dropOwned(pool: Pool, login: string): Promise<void> {
  await pool.script(`drop owned by ${login}; drop schema if exists ${login}`);
}

async function seen(pool: Pool, name: string) {
  const [row] = await pool.query<{ settings: string[] }>(sql`
    select
      r.rolconnlimit as connections,
      r.rolreplication as replication,
      r.rolsuper as superuser,
      coalesce((select array_agg(s order by s) from unnest(r.rolconfig) s), '{}') as settings,
      coalesce(
        (select array_agg(m.roleid::regrole::text) from pg_auth_members m where m.member = r.oid),
        '{}'
      ) as "memberOf"
    from pg_roles r
    where r.rolname = ${name}
  `);
  return row!;
}
