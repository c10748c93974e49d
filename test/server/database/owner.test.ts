/** Migration and logins by a database's owner who is no superuser, as on managed services. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type Pool, sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { migrate } from "../../../server/database/migrate.js";
import { packagedFile } from "../../../shared/config/package.js";
import { loadRegistry } from "../../../shared/registry/load-registry.js";
import { readScript } from "../../../shared/database/sql-files.js";
import { cliWith } from "../../support/cli-input.js";
import { emptyDatabase } from "../../support/database.js";
import { poolOn } from "../../support/pool-on.js";
import { insertRaw, randomFrom, samplesWithin } from "../../support/random-samples.js";
import { superuserMissing } from "../../support/rights.js";
import { compressAll, dayMs, retain } from "../../support/rollup-upkeep.js";

const log = makeLog("test", "error");
const roles = ["vw_probe", "vw_core", "vw_web", "vw_analyst", "vw_definer"];
const registry = await loadRegistry(packagedFile("registry/exchanges.json"));

void t.test(
  "a database owner who is no superuser",
  { skip: process.env.DATABASE_URL ? await superuserMissing() : "the embedded database has no separate owner" },
  async (t) => {
    const { admin, owner, name, url } = await ownedDatabase(t);

    await t.test("creates the roles, or gets an error that names those to ask for", async (t) => {
      for (const role of roles)
        await admin.script(
          `do $$ begin create role ${role} nologin; exception when duplicate_object or unique_violation then null; end $$`,
        );
      // before PostgreSQL 16, a role that may create roles may join any
      if ((await versionOf(admin)) >= 160_000)
        await t.rejects(migrate(owner, registry, log), {
          name: "UserError",
          message: new RegExp(
            `Ask an administrator for: .*grant vw_core to ${name} with inherit true, set true; grant vw_definer to ${name} with inherit true, set true$`,
          ),
        });
      await admin.script(`grant ${roles.join(", ")} to ${name} with admin option`);
    });

    await t.test("creates roles of which it is a member", async (t) => {
      // the server already has the usual roles, so the prelude creates others here
      const prefix = `${name}_`;
      const prelude = (await readScript("prelude.sql")).replaceAll("vw_", prefix);
      const inheriting = (await versionOf(admin)) >= 160_000 ? "set local createrole_self_grant = 'inherit';" : "";
      await t.resolves(
        owner.script(
          `begin; ${inheriting} ${prelude}; set local role ${prefix}core; set local role ${prefix}definer; rollback`,
        ),
      );
    });

    await t.test("learns which role migrated the database before", async (t) => {
      await admin.script("create schema venuewatch");
      await t.rejects(migrate(owner, registry, log), {
        name: "UserError",
        message: /migrated this database before .* Migrate as /,
      });
      await admin.script("drop schema venuewatch");
    });

    await t.test("migrates twice, and no other role may", async (t) => {
      await migrate(owner, registry, log);
      await migrate(owner, registry, log);
      await t.rejects(
        migrate(admin, registry, log),
        { name: "UserError", message: new RegExp(`^${name} migrated this database before and owns the schema`) },
        "a superuser would create schemas that the owner may not change",
      );
    });

    const login = async (role: string) => {
      const of = `${name}_${role}`;
      t.teardown(() => admin.script(`drop role if exists ${of}`));
      const file = join(t.testdirName, "password");
      writeFileSync(file, "hunter2hunter2hunter2\n");
      const made = await cliWith(t, ["login", of, "--role", role, "--password-file", file], { DATABASE_URL: url });
      return { ...made, of };
    };
    t.testdir({});

    await t.test("creates logins, and learns which settings need a superuser", async (t) => {
      const core = await login("core");
      t.match(core, { code: 0 });
      t.match(core.out, `alter role ${core.of} set temp_file_limit = '10GB';`);
      t.match(core.out, `alter role ${core.of} set log_min_messages = 'fatal';`);
      const replica = await login("replica");
      t.equal(replica.code, 2);
      t.match(replica.err, `Ask an administrator for: create role ${replica.of} login replication connection limit 5`);
      await admin.script(`create role ${replica.of}`);
      t.match(
        (await login("replica")).err,
        `Ask an administrator for: alter role ${replica.of} login replication connection limit 5`,
      );
      // a trap that the owner has set for the administrator
      await owner.script(`
          create schema trap;
          create function trap.spring() returns boolean language plpgsql as 'begin raise exception $$trap$$; end';
          ${["name", "text", "regprocedure", "record"].map((type) => `create domain trap.${type} as int check (trap.spring());`).join("\n")}
          create function trap.to_regrole(pg_catalog.text) returns regrole language plpgsql as 'begin raise exception $$trap$$; end';
          create or replace function logins.role_of(kind text) returns name language plpgsql as 'begin raise exception $$trap$$; end'
        `);
      await admin.script(`set search_path = trap, pg_catalog; ${await readScript("superuser.sql")}`);
      await owner.script("drop schema trap cascade; delete from definition");
      await migrate(owner, registry, log);
      t.equal((await login("core")).out.split("\n").length, 2, "sql/database/superuser.sql leaves nothing to do");
    });

    await t.test("gives logins all limits, if an administrator ran sql/database/superuser.sql first", async (t) => {
      const prepared = await ownedDatabase(t);
      await prepared.admin.script(await readScript("superuser.sql"));
      const warnings: string[] = [];
      await migrate(
        prepared.owner,
        registry,
        makeLog("test", "warn", (line) => warnings.push(line)),
      );
      t.same(warnings, []);
      const of = `${prepared.name}_core`;
      t.teardown(() => admin.script(`drop role if exists ${of}`));
      const [kept] = await prepared.owner.file<{ leftToSuperuser: string[] }>("store_login", [
        ...[of, "core", "", null, false, null],
      ]);
      t.same(kept!.leftToSuperuser, []);
      const [has] = await admin.query<{ limits: string[] }>(sql`
        select rolconfig as limits from pg_roles where rolname = ${of}
      `);
      t.ok(has!.limits.includes("temp_file_limit=10GB"));
    });

    await t.test("administers none of our roles, if a superuser migrated its database", async (t) => {
      const others = await ownedDatabase(t);
      await others.admin.script("create schema venuewatch");
      await others.admin.script(await readScript("superuser.sql"));
      const joined = await others.admin.query(sql`
        select from pg_auth_members where member = to_regrole(${others.name}) and admin_option
      `);
      t.equal(joined.length, 0);
    });

    await t.test("no command runs its functions and views as a superuser", async (t) => {
      const superuser = new URL(url);
      const given = new URL(process.env.DATABASE_URL!);
      [superuser.username, superuser.password] = [given.username, given.password];
      for (const args of [["login", "x", "--role", "web", "--password-file", "-"], ["channel", "list"], ["doctor"]]) {
        const { code, out, err } = await cliWith(t, args, { DATABASE_URL: superuser.href }, "hunter2hunter2hunter2\n");
        t.equal(code, 2, args.join(" "));
        t.match(
          out + err,
          new RegExp(`a superuser, but ${name}, who is none, owns the schema: give ${name}'s address`),
        );
      }
    });

    await t.test("changes a login that another role created", async (t) => {
      const of = `${name}_changed`;
      t.teardown(() => admin.script(`drop role if exists ${of}`));
      await admin.script(`revoke set on parameter temp_file_limit, log_min_messages from ${name}`);
      const keep = async (by: Pool, kind: string) => {
        const [kept] = await by.file<{ leftToSuperuser: string[] }>("store_login", [of, kind, "", null, false, null]);
        const [has] = await admin.query<{ roles: string[] }>(sql`
          select array_agg(m.roleid::regrole::text) as roles from pg_auth_members m where m.member = to_regrole(${of})
        `);
        t.same(has!.roles, [`vw_${kind}`]);
        return kept!.leftToSuperuser;
      };
      await keep(owner, "core");
      t.same(await keep(admin, "analyst"), []);
      await keep(admin, "core");
      if ((await versionOf(admin)) >= 160_000) {
        await t.rejects(keep(owner, "web"), {
          code: "2BP01",
          hint: new RegExp(`^revoke vw_core from ${of} granted by `),
        });
        const args = ["login", of, "--role", "web", "--password-file", "-"];
        const stays = await cliWith(t, args, { DATABASE_URL: url }, "hunter2hunter2hunter2\n");
        t.match(stays, { code: 2, err: `Ask an administrator for: revoke vw_core from ${of} granted by ` });
        await admin.script(`revoke vw_core from ${of}`);
      }
      t.same(await keep(owner, "web"), [
        `alter role ${of} reset log_min_messages`,
        `alter role ${of} set temp_file_limit = '1GB'`,
      ]);
    });

    await t.test("lets core maintain the history with core's own rights", async (t) => {
      const core = poolAs(t, url, `${name}_core`);
      const now = new Date();
      const old = new Date(+now - 2 * dayMs);
      await insertRaw(owner, samplesWithin(randomFrom(1), old, 5, [1, 2], [1, 2]));
      await core.query(sql`call upkeep.refresh_late(${now})`);
      t.ok((await core.query(sql`select from sample_minute`)).length > 0);
      t.ok((await compressAll(core, now)).length > 0, "core compresses chunks");
      t.ok((await retain(core, new Date(+now + 30 * dayMs))) > 0, "core drops old chunks");
    });

    await t.test("moves its history into another database", async (t) => {
      const into = await ownedBy(t, name);
      const moved = await cliWith(t, ["move", "--to", "-"], { DATABASE_URL: url }, `${into}\n`);
      t.match(moved, { code: 0, out: /both sides agree/ });
      const target = poolOn(t, into);
      const minutes = sql`select * from sample_minute order by minute, component_id, region_id`;
      const there = await target.query(minutes);
      t.ok(there.length > 0);
      t.same(there, await owner.query(minutes));
      await migrate(target, registry, log);
    });

    await t.test("lets web read, and write nothing", async (t) => {
      t.equal((await login("web")).code, 0);
      const web = poolAs(t, url, `${name}_web`);
      await web.query(sql`select count(*) from sample`);
      await t.rejects(web.script("set transaction read write; delete from venuewatch.sample"), { code: "42501" });
    });
  },
);

async function versionOf(pool: Pool): Promise<number> {
  const [server] = await pool.query<{ version: number }>(
    sql`select current_setting('server_version_num')::int as version`,
  );
  return server!.version;
}

/** Creates the database as an administrator would. @returns its address for the owner */
async function ownedBy(t: Test, name: string, given?: string): Promise<string> {
  const url = new URL(given ?? (await emptyDatabase(t)));
  const admin = poolOn(t, url.href);
  await admin.script("create extension if not exists timescaledb");
  await admin.script(`alter database ${url.pathname.slice(1)} owner to ${name}`);
  url.username = name;
  url.password = "hunter2hunter2hunter2";
  return url.href;
}

/** A database and its owner, whose role has this name. */
async function ownedDatabase(t: Test) {
  const given = await emptyDatabase(t);
  const admin = poolOn(t, given);
  const name = `owner_${randomBytes(6).toString("hex")}`;
  await admin.script(`create role ${name} login createrole password 'hunter2hunter2hunter2'`);
  const url = await ownedBy(t, name, given);
  t.teardown(async () => {
    // the database is dropped first, with everything that the role owns in it
    const [other] = await admin.query<{ owner: string }>(sql`select current_user as owner`);
    await admin.script(`reassign owned by ${name} to ${other!.owner}; drop owned by ${name}; drop role ${name}`);
  });
  return { admin, owner: poolOn(t, url), name, url };
}

function poolAs(t: Test, url: string, user: string): Pool {
  const address = new URL(url);
  address.username = user;
  return poolOn(t, address.href);
}
