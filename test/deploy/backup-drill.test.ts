/**
 * Tests backups of a server with the exact commands of docs/backup.md: base backups, a drill, one table, a restore to
 * an instant, and pg_dump. The services of compose.yaml run as plain processes, with deploy/production/'s
 * configuration. Needs DATABASE_URL and PostgreSQL's programs.
 */
import { existsSync, readdirSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type Pool, sql } from "../../shared/database/pool.js";
import { addChannel, happened, native } from "../support/alerts.js";
import { codeUnder } from "../support/code-under.js";
import { type ComposePlace, composePlace } from "../support/compose-place.js";
import { startAlerts } from "../support/alert-dispatch.js";
import { ago } from "../support/fleet.js";
import { postgresPrograms } from "../support/postgres-server.js";
import { facts, type Facts, fill, goesOn, isTheSame, poolOn, skipsNumbers } from "../support/restored-database.js";
import { until } from "../support/until.js";
import { type Receiver, startReceiver } from "../../world/receivers.js";

const programs = await postgresPrograms();
const skip =
  (!process.env.DATABASE_URL && "DATABASE_URL names no server") ||
  (typeof programs === "string" && programs) ||
  // deploy/production/pg_hba.conf lets the system's user postgres in as the superuser
  (process.getuid!() !== 0 && userInfo().username !== "postgres" && "neither root nor postgres runs this");
const commands = (heading: string) => codeUnder("docs/backup.md", heading);

void t.test("backups of a server", { skip }, async (t) => {
  if (typeof programs === "string") return;
  const place = await composePlace(t, programs);
  const { sh, urlOf } = place;
  const superuser = urlOf("postgres", await place.secret("superuser_password"));
  const owner = urlOf("venuewatch", await place.secret("owner_password"));
  const probe = urlOf("probe-eu-central", await place.secret("probe-eu-central_password"));
  await sh("docker compose up --detach --wait");
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());

  const pool = poolOn(superuser);
  await fill(pool);
  await addChannel(pool, { to: native(receiver.origin) });
  const alerts = startAlerts(pool);
  await happened(pool, { venue: "okx", at: ago(150) });
  await until(() => receiver.arrivals.length === 1);
  await settled(pool);
  await alerts.close();

  await t.test("a base backup, over the network", async (t) => {
    await sh(commands("Is it working").replace(/.*ls .*\n/, ""));
    t.equal(readdirSync(join(place.folder, "backups/base")).length, 1);
    await sh(composeHealth);
  });
  // only in the archive
  await happened(pool, { venue: "bybit", at: ago(140) });
  const before = await facts(pool);
  const dumps = join(place.folder, "dump");
  await dump(place, superuser, dumps);
  const UNTIL = await damage(pool);

  await archived(pool);
  await t.test("a drill, and one table from it", async (t) => {
    await sh(commands("Practise").replace(/docker compose rm .*/, ""), { UNTIL });
    await sh(commands("Somebody deleted something"));
    await sh(/docker compose rm .*/.exec(commands("Practise"))![0]);
    t.notOk(existsSync(join(place.folder, "drill")));
    const { tables } = await facts(pool);
    for (const table of ["incident", "alert_event"])
      t.strictSame(tables[table], before.tables[table], `the deleted rows of ${table} are there again`);
    const [row] = await pool.query<{ here: boolean }>(sql`select to_regclass('made_after') is not null as here`);
    t.ok(row!.here, "and so is the table created since");
  });
  await pool.close();

  await t.test("a restore to the instant before the damage", async (t) => {
    const [restore, doctor] = commands("Restoring all of it").split("docker compose exec -T core-1 ");
    await sh(restore!, { UNTIL });
    t.match(
      // without a registry, doctor contacts no venue
      await sh(`REGISTRY=/dev/null docker compose exec -T core-1 venuewatch doctor || test $? = 2`),
      /schema +matches this build/,
    );
    const restored = poolOn(superuser);
    t.teardown(() => restored.close());
    await isTheSame(t, restored, before, { migrated: true });
    const [here] = await restored.query<{ later: boolean; left: string }>(sql`
      select
        to_regclass('made_after') is not null as later,
        (select string_agg(name, ' ') from pg_file_settings where sourcefile ~ 'auto.conf') as left
    `);
    t.match(here, { later: false, left: null }, "nothing from after that instant");
    await logsIn(probe);
    await onlyWhatWaited(t, restored, receiver);
    const migrating = poolOn(owner);
    t.teardown(() => migrating.close());
    await goesOn(t, migrating);
    const after = doctor!.split("\n").slice(1).join("\n");
    await sh(after);
    t.notOk(readdirSync(join(place.folder, "database")).some((name) => name.startsWith("damaged")));
    t.equal(readdirSync(join(place.folder, "backups/base")).length, 2);
  });

  await t.test("restoring everything after a disk is lost", async (t) => {
    const running = poolOn(superuser);
    const last = await facts(running);
    await running.close();
    await sh(`docker compose stop; rm -r database/*`);
    await sh(commands("Restoring all of it").split("docker compose exec")[0]!);
    const restored = poolOn(superuser);
    t.strictSame((await facts(restored)).tables, last.tables);
    const [row] = await restored.query<{ timeline: string }>(sql`select current_timeline() as timeline`);
    t.equal(row!.timeline, "00000003", "it follows the timeline of the first restore");
    await restored.close();
    await sh("docker compose stop");
  });

  await t.test("a dump, restored on a server without our objects", async (t) =>
    restoreDump(t, await composePlace(t, programs), dumps, before),
  );
});

const composeHealth = `docker compose exec -T backup sh -c 'test -n "$(find /backups/base -maxdepth 1 -name "*Z" -mmin -1560)"'`;

/** @returns the instant before the damage, in the format of the scripts */
async function damage(pool: Pool): Promise<string> {
  const [now] = await pool.query<{ at: Date }>(sql`select clock_timestamp() as at`);
  await pool.script("create table made_after ()");
  await pool.script("truncate incident, alert_event cascade");
  return now!.at.toISOString();
}

/** Waits until everything written so far is archived, as it is after archive_timeout. */
async function archived(pool: Pool): Promise<void> {
  const [last] = await pool.query<{ segment: string }>(sql`select pg_walfile_name(pg_switch_wal()) as segment`);
  await until(async () => {
    const [row] = await pool.query<{ archived: boolean }>(
      sql`select last_archived_wal >= ${last!.segment} as archived from pg_stat_archiver`,
    );
    return row!.archived;
  }, 30_000);
}

async function dump({ sh }: ComposePlace, superuser: string, BACKUP: string): Promise<void> {
  const variables = { BACKUP, ...(await withoutPassword(sh, superuser)) };
  await sh(`mkdir "$BACKUP"; ${commands("pg_dump: backup")}`, variables);
  for (const name of ["roles.sql", "venuewatch.dump"])
    await sh(`cmp -s $BACKUP/${name} ${name} || test -s ${name}`, variables);
}

async function restoreDump(t: Test, place: ComposePlace, BACKUP: string, before: Facts): Promise<void> {
  const { sh, urlOf } = place;
  const superuser = urlOf("postgres", await place.secret("superuser_password"));
  const owner = urlOf("venuewatch", await place.secret("owner_password"));
  await sh(`pg_ctl --pgdata=database --log=log --options="-c config_file=$PLACE/config/postgresql.conf" --wait start`);
  await sh(commands("pg_dump: restore"), {
    BACKUP,
    OWNER_URL: urlOf("venuewatch", ""),
    ...(await withoutPassword(sh, superuser)),
  });
  const restored = poolOn(superuser);
  const logins = await restored.query<{ login: string }>(sql`
    select rolname as login from pg_roles where rolcanlogin and rolname <> 'postgres' and rolname !~ '^pg_' order by 1
  `);
  const names = logins.map(({ login }) => login).join(" ");
  t.equal(names, "backup core probe-ap-southeast probe-eu-central probe-us-east replica venuewatch web");
  await isTheSame(t, restored, before, { migrated: true });
  await skipsNumbers(t, restored);
  const migrating = poolOn(owner);
  await goesOn(t, migrating);
  await migrating.close();
  await restored.close();
}

/** Moves the password to a file, as the page does. */
async function withoutPassword(sh: ComposePlace["sh"], address: string): Promise<Record<string, string>> {
  const url = new URL(address);
  const password = decodeURIComponent(url.password);
  url.password = "";
  await sh(`umask 077; echo "*:*:*:*:$password" >pgpass`, { password });
  return { DATABASE_URL: url.href, DATABASE_PASSWORD_FILE: "secrets/owner_password", PGPASSFILE: "pgpass" };
}

async function logsIn(url: string): Promise<void> {
  const pool = poolOn(url);
  await pool.query(sql`select from migration`);
  await pool.close();
}

function settled(pool: Pool): Promise<void> {
  return until(async () => {
    const [row] = await pool.query<{ due: number }>(
      sql`select count(*) as due from delivery where state <> 'delivered'`,
    );
    return row!.due === 0;
  }, 30_000);
}

/** Delivered alerts are not sent again, a waiting one is sent once, and a later one has an unused number. */
async function onlyWhatWaited(t: Test, pool: Pool, { arrivals }: Receiver): Promise<void> {
  const numbers = () => arrivals.map(({ body }) => (JSON.parse(body.toString()) as { eventId: number }).eventId);
  const [delivered] = numbers();
  t.same(await pool.file("adopt_timeline"), [{ adopted: false }]);
  await pool.script("update timeline set adopted_at = '-infinity'");
  const alerts = startAlerts(pool);
  await until(() => arrivals.length === 2);
  await happened(pool, { venue: "okx", component: "rest:book", at: ago(5) });
  await until(() => arrivals.length === 3);
  await alerts.close();
  const [, waited, later] = numbers();
  t.equal(waited, delivered! + 1);
  t.ok(later! > waited! + 200_000, `${later}`);
}
