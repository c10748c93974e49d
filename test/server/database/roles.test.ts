import { randomBytes } from "node:crypto";
import t, { type Test } from "tap";
import {
  addChannel,
  channelsOf,
  disableChannel,
  enableChannel,
  removeChannel,
  rotateSecret,
} from "../../../server/core/alerts/channels.js";
import { makeSealing } from "../../../server/core/alerts/sealing.js";
import { keepServiceAddress, serviceAddress } from "../../../server/core/alerts/service-address.js";
import { startWeb } from "../../../server/web/web.js";
import { type Pool, sql } from "../../../shared/database/pool.js";
import { tick } from "../../../server/core/engine/tick.js";
import { makeLog } from "../../../shared/log/log.js";
import { migrate } from "../../../server/database/migrate.js";
import { schemaState } from "../../../server/database/schema-state.js";
import { readScript } from "../../../shared/database/sql-files.js";
import { recordSamples } from "../../../server/database/record-samples.js";
import type { Sample } from "../../../shared/measurement/sample.js";
import { measureStalls } from "../../../server/cli/stalls.js";
import { emptyDatabase, migratedDatabase } from "../../support/database.js";
import { pastIncident } from "../../support/fleet.js";
import { madeSample } from "../../support/made-sample.js";
import { forgetAt, type Member, member } from "../../support/member.js";
import { poolOn } from "../../support/pool-on.js";
import { becoming, superuserMissing } from "../../support/rights.js";
import { compressAll } from "../../support/rollup-upkeep.js";

const log = makeLog("test", "warn");
const dayMs = 24 * 3_600_000;
const withoutSuperuser = await superuserMissing();
const onServer = process.env.DATABASE_URL !== undefined;

void t.test("each role has only the rights that it needs", async (t) => {
  const { pool, url, registry } = await migratedDatabase(t);
  const now = Date.now();

  await t.test("vw_probe delivers samples and reads none", async (t) => {
    const probe = await actingAs(t, url, "vw_probe");
    const old = madeSample({ slotAt: new Date(now - 3 * dayMs) });
    const deliver = (samples: Sample[]) => recordSamples(probe, "us-east", samples);
    t.match(await deliver([old, madeSample({ slotAt: new Date(now) })]), { stored: 2 });
    await pool.query(
      sql`select compress_chunk(c) from show_chunks('sample', older_than => now() - interval '1 day') c`,
    );
    const late = madeSample({ slotAt: new Date(+old.slotAt + 1_000) });
    t.match(await deliver([late, old]), { stored: 1, duplicates: 1 }, "late samples go into compressed chunks, too");
    await refuses(t, probe, "vw_probe", [
      "select * from sample",
      "select * from sample_minute",
      "select * from incident",
      "select * from api.venue",
      "select * from impairment",
      "select * from rules_in_force",
      "select analytics.evidence('x')",
      "select * from channel",
      "select * from delivery",
      "select * from delivery_attempt",
      "update sample set good = good",
      "delete from probe",
      "update region_vantage set machine = null",
      "delete from region_vantage",
      "update venue set former_ids = '{}'",
      "update venue set published = false",
      "insert into incident default values",
      ...changesOfHistory,
      "select compress_chunk(c) from show_chunks('sample') c",
      "drop table sample",
    ]);
  });

  await t.test("vw_probe takes, shares and releases venues", async (t) => {
    const probe = await actingAs(t, url, "vw_probe");
    t.strictSame(await schemaState(probe), { missing: [], unknown: [] });
    const [first, second, third] = [1, 2, 3].map(() => member(probe, { machine: "0123456789abcdef" })) as [
      Member,
      Member,
      Member,
    ];
    const all = registry.venues.length;
    await first.renew();
    t.equal(first.venues.length, all);
    for (const one of [second, first, second]) await one.renew();
    t.ok(second.venues.length >= Math.floor(all / 2), "its share");
    await forgetAt(pool, first.process);
    await second.renew();
    t.equal(second.venues.length, all, "it takes over the dead probe's venues");
    await second.leave();
    await third.renew();
    t.equal(third.venues.length, all, "it takes the released venues");
    const [vantage] = await probe.query<{ machine: string }>(sql`select machine from region_vantage`);
    t.match(vantage, { machine: "0123456789abcdef" }, "it reports its machine");
  });

  await t.test(
    "a probe's login delivers and holds venues for its region alone",
    { skip: withoutSuperuser },
    async (t) => {
      const login = `probe_${randomBytes(6).toString("hex")}`;
      await pool.file("store_login", [login, "probe", "", null, false, "us-east"]);
      const probe = poolOn(t, url, { max: 1 });
      t.teardown(() => pool.script(`drop role ${login}`));
      await probe.script(`set session authorization ${login}`);
      const deliver = (region: string) => recordSamples(probe, region, [madeSample({ slotAt: new Date(now - 7_000) })]);
      t.match(await deliver("us-east"), { stored: 1 });
      const own = member(probe, { region: "us-east" });
      await own.renew();
      t.ok(own.venues.length > 0);
      await own.leave();
      const refusal = {
        code: "42501",
        message: `expected a login of the region eu-west, got ${login}, which is one of us-east`,
        hint: `set REGION, or run venuewatch login ${login} --role probe --region eu-west`,
      };
      const other = member(probe, { region: "eu-west" });
      for (const attempt of [async () => void (await deliver("eu-west")), () => other.renew(), () => other.leave()]) {
        await probe.script(`set session authorization ${login}`);
        await t.rejects(attempt(), refusal);
      }
      await probe.script(`set session authorization ${login}`);
      await t.rejects(
        probe.query(sql`select upkeep.share_venue_leases('eu-west', ${other.process}, '{}', true)`),
        refusal,
      );
      for (const statement of [
        "select upkeep.require_region(region) from region",
        "update probe_login set region = 'eu-west'",
        "delete from probe_login",
        "alter function upkeep.require_region owner to current_user",
      ]) {
        await probe.script(`set session authorization ${login}`);
        await t.rejects(probe.script(statement), { code: "42501" }, statement);
      }
    },
  );

  await t.test("no role may keep others from reading or writing a table that it does not own", async (t) => {
    const strong = await pool.query(sql`
      select r.rolname as role, c.oid::regclass::text as relation
      from pg_class c
      cross join pg_roles r
      where r.rolname in ('vw_probe', 'vw_core', 'vw_web', 'vw_analyst', 'vw_definer')
        and c.relnamespace in (select oid from pg_namespace where nspname in ('venuewatch', 'api', 'analytics'))
        and c.relkind in ('r', 'v') and not pg_has_role(r.oid, c.relowner, 'usage')
        and has_table_privilege(r.oid, c.oid, 'insert, update, delete, truncate')
    `);
    t.strictSame(strong, [], "the stronger locks need one of these rights");
  });

  await t.test("vw_core ticks and maintains the history", async (t) => {
    const core = await actingAs(t, url, "vw_core");
    t.strictSame(await schemaState(core), { missing: [], unknown: [] });
    t.ok(await core.file("take_or_renew_lease", ["engine", "core of a test", 1_000, null]));
    t.ok(await tick(core, new Date(now)));
    t.match(await core.file("engine_state", [2_000]), [{ incidents_open: 0 }]);
    t.match(await core.file("alerts_state"), [{ events_waiting: 0 }]);
    await core.script("call upkeep.refresh_newest(now())");
    await core.script("call upkeep.refresh_open_buckets(now(), true)");
    await core.script("call upkeep.refresh_late(now())");
    t.ok((await compressAll(core, new Date(now))).length > 0, "it compresses a roll-up's chunk");
    await core.script("call upkeep.retain(now() + interval '7 days')");
    await core.script("vacuum region_state");
    await core.script("analyze sample");
    const old = await pool.query(sql`select from sample where ts < now() - interval '1 day'`);
    t.strictSame(old, [], "it drops old samples");
    await refuses(t, core, "vw_core", [
      "update venue set published = false",
      "insert into region (region, name, position) values ('x', 'x', 9)",
      "drop table venue",
      ...(onServer ? ["create temporary table mine ()"] : []),
      "delete from migration",
      "drop schema upkeep cascade",
      "create table venuewatch.mine ()",
      "create role another",
    ]);
  });

  await t.test("vw_core manages the channels", async (t) => {
    const core = await actingAs(t, url, "vw_core");
    const address = { baseUrl: "https://a.example", siteUrl: "https://b.example" };
    for (const baseUrl of ["https://c.example", address.baseUrl])
      await keepServiceAddress(core, { ...address, baseUrl }, makeLog("test", "error"));
    t.same(await serviceAddress(core), address, "it stores the address for links");
    const sealing = makeSealing(randomBytes(32));
    const { channel } = await addChannel(core, sealing, {
      ...{ format: "native", serviceRegion: null, description: "", floor: "degraded", open: true },
      ...{ venues: ["kraken"], categories: null, onMaintenance: "quiet", transfers: ["BTC"] },
      credential: { text: "https://example.org/hook", shownAs: "shown" },
    });
    await rotateSecret(core, sealing, channel.id, 24);
    await disableChannel(core, channel.id);
    await enableChannel(core, channel.id, true);
    t.match(await channelsOf(core, {}), [{ id: channel.id, state: "on" }]);
    t.match(await removeChannel(core, channel.id), { skipped: 0 });
  });

  await t.test("vw_web reads and writes nothing", async (t) => {
    const web = await actingAs(t, url, "vw_web");
    for (const relation of await readable(pool))
      await t.resolves(web.text(`select * from ${relation} limit 1`, []), relation);
    await refuses(t, web, "vw_web", [
      "insert into venue_state (venue_id, state, since) values (1, 'outage', now())",
      "update incident set severity = 'outage'",
      "truncate sample",
      "update migration set name = name",
      "select engine.tick(now(), now(), engine.rules_at(now()), '', null, null)",
      "insert into rules_in_force values (now(), '', '{}')",
      ...changesOfHistory,
      "create view api.mine as select 1",
      "drop function api.open_venue_hours cascade",
      "drop function analytics.evidence cascade",
      "alter function analytics.heads_backwards rename to mine",
      "create function analytics.mine() returns int language sql return 1",
      ...(onServer ? ["create temporary table mine ()"] : []),
      "select * from analytics.samples",
      "select analytics.evidence('x')",
      "select * from leader",
      "select * from feed_address",
      "select * from transfer_address",
      "select * from entry_salt",
      "select * from channel",
      "select * from service_address",
      "select channel_id from channel",
      "select * from delivery_attempt",
      "update delivery set state = 'delivered'",
      "delete from delivery",
    ]);
  });

  await t.test("vw_web measures stall thresholds", async (t) => {
    const web = await actingAs(t, url, "vw_web");
    const reports = await measureStalls(web, registry, { days: 1, now: new Date(now) });
    t.equal(reports.length, 48, "one report for each stream");
  });

  await t.test("vw_web can answer every request of the API", async (t) => {
    const startedAt = new Date(now - 3_600_000);
    const slug = await pastIncident(pool, { venue: "kraken", component: "ws:trades", startedAt, minutes: 5 });
    const web = await actingAs(t, url, "vw_web");
    t.strictSame(await schemaState(web), { missing: [], unknown: [] });
    const api = await startWeb({
      ...{ pool: web, registry, rateLimit: 0, trustProxy: [], log, port: 0, host: "127.0.0.1" },
      ...{ baseUrl: "http://127.0.0.1", siteUrl: "http://localhost" },
    });
    t.teardown(api.close);
    for (const [path, status] of [...Object.entries(answers), [`/v1/incidents/${slug}`, 200] as const]) {
      const answer = await fetch(`http://127.0.0.1:${api.port}${path}`);
      t.equal(answer.status, status, path);
      await answer.arrayBuffer();
    }
  });
});

void t.test("objects that core attaches to its tables get no further rights from a migration", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  t.ok(await tick(pool, new Date()));
  const who = "('as ' || current_user)::int is not null";
  const escape = "set_config('role', 'none', true) is not null";
  for (const [attached, removed] of [
    [
      "alter table engine_clock add constraint evil check (@) not valid",
      "alter table engine_clock drop constraint evil",
    ],
    [
      "create rule evil as on update to engine_clock do also update rules_in_force set version = version where @",
      "drop rule evil on engine_clock",
    ],
    [
      `alter table engine_clock enable row level security; alter table engine_clock force row level security;
       create policy evil on engine_clock using (@)`,
      "drop policy evil on engine_clock; alter table engine_clock disable row level security, no force row level security",
    ],
    [
      `create trigger evil before update on engine_clock for each row when (@)
       execute function suppress_redundant_updates_trigger()`,
      "drop trigger evil on engine_clock",
    ],
    [
      `create constraint trigger evil after update on engine_clock deferrable initially deferred for each row when (@)
       execute function suppress_redundant_updates_trigger()`,
      "drop trigger evil on engine_clock",
    ],
  ] as const) {
    await pool.script("delete from definition");
    for (const [expression, message] of [
      [who, /type integer: "as vw_core"|affected by row-level security/],
      [escape, /cannot set parameter "role" within security-|affected by row-level security/],
    ] as const) {
      await pool.script(attached.replace("@", expression));
      await t.rejects(migrate(pool, registry, log), { message }, attached);
      await pool.script(removed);
    }
  }
  await migrate(pool, registry, log);
  t.strictSame(await pool.query(sql`select from pg_proc where proname = 'as_core'`), [], "and nothing of it stays");
});

void t.test("objects attached by core to its tables cannot change the function that lends core's rights", async (t) => {
  const { pool, registry } = await migratedDatabase(t);
  t.ok(await tick(pool, new Date()));
  const makeInvoker = `select 'a'::tsquery, 'b'::tsquery
    from venuewatch.as_core('alter function venuewatch.as_core security invoker', null, false)`;
  const tables = await pool.query<{ name: string }>(sql`
    select c.relname as name from pg_class c
    where c.relnamespace = 'venuewatch'::regnamespace and c.relkind = 'r' and c.relowner = to_regrole('vw_core')
      and not exists (select from timescaledb_information.hypertables h where h.hypertable_name = c.relname)
  `);
  t.ok(tables.length > 20);
  for (const { name } of tables)
    await pool.script(`alter table ${name} add constraint evil check (
      case
        when to_regproc('venuewatch.as_core') is null then true
        when current_user = 'vw_core' then ts_rewrite('a', $text$${makeInvoker}$text$) is not null
        else ('as ' || current_user)::int is not null
      end) not valid`);
  for (let i = 0; i < 2; i++) {
    await pool.script("delete from definition; delete from components_published");
    await t.resolves(migrate(pool, registry, log), "nothing of core's ran as another user");
  }
});

void t.test("a migration refuses names of PostgreSQL's functions in its schema", async (t) => {
  const { pool } = await migratedDatabase(t);
  const refuse = await readScript("refuse-left-names.sql");
  await pool.transaction((tx) => tx.script(refuse));
  for (const [name, statement] of [
    ["format", "create function format(text, text, name) returns text language sql return 'evil'"],
    ["time_bucket", "create function time_bucket(text) returns text language sql return 'evil'"],
    ["=", "create operator = (leftarg = text, rightarg = int, function = texticlike)"],
  ] as const)
    await t.rejects(
      pool.transaction(async (tx) => {
        await tx.script(`create function texticlike(text, int) returns boolean language sql return true; ${statement}`);
        await tx.script(refuse);
      }),
      { message: new RegExp(`^expected no functions of these names in schema venuewatch, got .*${name}`) },
    );
});

void t.test(
  "a probe that leaves its transaction open stops no other region, also when a day begins",
  { skip: process.env.DATABASE_URL === undefined && "a transaction of the embedded database is alone in any case" },
  async (t) => {
    const { pool, url } = await migratedDatabase(t);
    const dayBegins = new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000);
    for (let i = 0; i < 2; i++) await pool.query(sql`call upkeep.make_next_chunk(${new Date(+dayBegins - 3_600_000)})`);
    const chunks = await pool.query(sql`
      select from timescaledb_information.chunks ch
      where ch.hypertable_name = 'sample' and ch.range_start <= ${dayBegins} and ch.range_end > ${dayBegins}
    `);
    t.equal(chunks.length, 1);
    t.strictSame(await pool.query(sql`select from sample`), [], "and no sample stays");

    // as a sample would that is accepted in the last minute of a day
    const insert = (region: number) => sql`
      insert into sample (ts, component_id, region_id, good) values (${dayBegins}, 1, ${region}::smallint, true)
    `;
    const [thief, other] = [poolOn(t, url, { max: 1 }), poolOn(t, url, { max: 1 })];
    await thief.transaction(async (tx) => {
      await tx.query(insert(1));
      await other.script("set lock_timeout = '5s'");
      await t.resolves(other.query(insert(2)));
    });
  },
);

/** Roles belong to the whole server. An embedded database has a server of its own. */
const skip = process.env.DATABASE_URL === undefined && "needs two databases of one server";

void t.test("two databases of one server can be migrated at the same time", { skip }, async (t) => {
  const { registry } = await migratedDatabase(t);
  const urls = await Promise.all([emptyDatabase(t), emptyDatabase(t)]);
  const pools = urls.map((url) => poolOn(t, url));
  await Promise.all(pools.map((pool) => migrate(pool, registry, log)));
  for (const pool of pools) {
    const owner = await pool.query(sql`select tableowner as owner from pg_tables where tablename = 'sample'`);
    t.strictSame(owner, [{ owner: "vw_core" }]);
  }
});

/** Only core, or nobody, may run these. */
const changesOfHistory = [
  "call upkeep.retain(now())",
  "call upkeep.refresh_late(now())",
  "select drop_chunks('sample', older_than => now())",
  "delete from sample",
  "create table venuewatch.mine ()",
];

/** Where a right is missing, the status is 500. */
const answers: Record<string, number> = {
  "/v1/status": 200,
  "/v1/exchanges/kraken": 200,
  "/v1/exchanges/kraken?range=7d": 200,
  "/v1/regions": 200,
  "/v1/incidents": 200,
  "/v1/incidents/no-such-incident": 404,
  "/metrics": 200,
};

/** One connection with the role set; a member's login would have the same rights. */
async function actingAs(t: Test, url: string, role: string): Promise<Pool> {
  const pool = poolOn(t, url, { max: 1 });
  await pool.script(becoming(role));
  return pool;
}

async function refuses(t: Test, db: Pool, role: string, statements: string[]): Promise<void> {
  for (const statement of statements) {
    // a connection whose statement failed is not used again
    await db.script(`set role ${role}`);
    await t.rejects(db.script(statement), { code: "42501" }, statement);
  }
}

async function readable(pool: Pool): Promise<string[]> {
  const rows = await pool.query<{ relation: string }>(sql`
    select format('%I.%I', schemaname, viewname) as relation from pg_views where schemaname in ('api', 'venuewatch')
    union all
    select format('%I.%I', schemaname, tablename) from pg_tables
    where schemaname = 'venuewatch' and tablename not in (
      'leader', 'migration', 'definition', 'channel', 'delivery_attempt', 'service_address', 'feed_address', 'entry_salt',
      'probe_login', 'transfer_address', 'transfer_spelling'
    )
    order by 1
  `);
  return rows.map(({ relation }) => relation);
}
