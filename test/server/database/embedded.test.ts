// all tests share one embedded database, because starting one takes long
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client, Pool, type ClientConfig } from "pg";
import t, { type Test } from "tap";
import { startEmbedded } from "../../../server/database/embedded.js";
import * as wire from "@venuewatch/embedded-timescaledb/internals/wire-messages";
import { makeLog } from "../../../shared/log/log.js";
import { guestUrl } from "../../support/guest-url.js";
import { metadataIsAnswered, psqlDescribes, psqlMissing } from "../../support/metadata.js";
import { bind, closePortal, connectWire, execute, flush } from "../../support/wire-client.js";

const dataDir = t.testdir();
/** Rejected logins are logged. */
const logged: string[] = [];
const embedded = await startEmbedded({
  ...{ dataDir, port: 0, logins: ["guest"] },
  log: makeLog("database", "info", (line) => logged.push(line)),
});
t.teardown(() => embedded.close());

async function connected(t: Test, config: ClientConfig = {}): Promise<Client> {
  const client = new Client({ connectionString: embedded.url, ...config });
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

async function value(client: Client, sql: string): Promise<unknown> {
  const { rows } = await client.query<unknown[]>({ text: sql, rowMode: "array" });
  return rows[0]?.[0];
}

async function connectedGuest(t: Test, config: ClientConfig = {}): Promise<Client> {
  return connected(t, { connectionString: await guestUrl(embedded.url, dataDir), ...config });
}

void t.test("psql logs in with the password files, and with nothing else", { skip: psqlMissing }, async (t) => {
  const ask = (user: string, env: Record<string, string>) =>
    promisify(execFile)(
      "psql",
      [
        ...["-w", "-X", "-A", "-t", "-h", "127.0.0.1", "-p", `${embedded.port}`, "-U", user],
        ...["-c", "select session_user, current_user", "template1"],
      ],
      { env: { PATH: process.env["PATH"], ...env } },
    );
  const owner = join(dataDir, "database.password");
  const PGPASSFILE = join(dataDir, "guest.pgpass");
  for (const file of [owner, PGPASSFILE]) t.equal((await stat(file)).mode & 0o777, 0o600, file);
  const PGPASSWORD = (await readFile(owner, "utf8")).trim();
  t.equal((await ask("postgres", { PGPASSWORD })).stdout, "postgres|postgres\n");
  t.equal((await ask("guest", { PGPASSFILE })).stdout, "guest|guest\n");
  const refused = (user: string) => new RegExp(`password authentication failed for user "${user}"`);
  for (const user of ["postgres", "guest", "nobody", "pg_monitor"])
    await t.rejects(ask(user, { PGPASSWORD: "wrong" }), refused(user), user);
  await t.rejects(ask("guest", { PGPASSWORD }), refused("guest"));
  await t.rejects(ask("postgres", {}), /no password supplied/);
  t.match(logged.join(""), /refused a client.*task=logins/);
  t.notMatch(logged.join(""), PGPASSWORD, "no password is logged");
});

void t.test("no statement is served before the password is proved", async (t) => {
  for (const [name, bytes] of [
    ["a statement instead of a proof", wire.query("select 1")],
    ["a password in clear", Buffer.from("p\0\0\0\x08abc\0")],
    ["more than a proof takes", Buffer.from(`p\0\0\x7f\xff${"x".repeat(20_000)}`, "latin1")],
  ] as const) {
    const client = await connectWire(embedded.url, true);
    client.send(bytes);
    t.match((await client.until("E")).at(-1)!.body.toString(), "FATAL", name);
  }
});

void t.test("a new directory answers metadata queries", async (t) => {
  // pg also checks the server's signature, and stops at a wrong one
  await metadataIsAnswered(t, await connectedGuest(t));
});

void t.test("psql's commands work on a new directory", { skip: psqlMissing }, async (t) => {
  const owner = await connected(t);
  await owner.query("create table described (a int primary key); grant select on described to guest");
  await psqlDescribes(t, await guestUrl(embedded.url, dataDir), ["\\d+ described"]);
});

void t.test("eight concurrent connections keep their transactions separate", async (t) => {
  const pool = new Pool({ connectionString: embedded.url, max: 8 });
  t.teardown(() => pool.end());
  await pool.query("create table account (id int primary key, held int)");
  await pool.query("insert into account select g, 0 from generate_series(1, 8) g");
  async function deposit(worker: number): Promise<void> {
    const client = await pool.connect();
    await client.query("begin");
    const { rows } = await client.query<{ held: number }>("select held from account where id = $1", [worker]);
    await client.query("update account set held = $2 where id = $1", [worker, rows[0]!.held + 1]);
    await client.query(worker % 4 === 0 ? "rollback" : "commit");
    client.release();
  }
  const echoed: number[] = [];
  const work: Promise<unknown>[] = [];
  for (let round = 0; round < 10; round++)
    for (let worker = 1; worker <= 8; worker++) {
      work.push(deposit(worker));
      const query = pool.query<{ n: number }>("select $1::int as n", [round * 8 + worker]);
      work.push(query.then(({ rows }) => echoed.push(rows[0]!.n)));
    }
  await Promise.all(work);
  const { rows } = await pool.query<{ held: number[] }>("select array_agg(held order by id) as held from account");
  t.same(rows[0]!.held, [10, 10, 10, 0, 10, 10, 10, 0], "committed work is stored, and rolled-back work is not");
  const each = Array.from({ length: 80 }, (_, i) => i + 1);
  t.same(new Set(echoed), new Set(each), "every query got its own answer");
  t.equal(echoed.length, 80);
});

void t.test("waiting clients are served in order of arrival", async (t) => {
  const holder = await connected(t);
  const waiting = await Promise.all(Array.from({ length: 5 }, () => connected(t)));
  await holder.query("begin");
  const served: number[] = [];
  const answers = waiting.map((client, i) => client.query("select 1").then(() => served.push(i)));
  await holder.query("select 1");
  t.same(served, [], "no other client is served within a transaction");
  await holder.query("commit");
  await Promise.all(answers);
  t.same(served, [0, 1, 2, 3, 4]);
});

void t.test("a client that dies in a transaction is rolled back", async (t) => {
  const next = await connected(t);
  await next.query("create table fruit (name text)");
  const dying = await connectWire(embedded.url);
  await dying.until("Z");
  dying.send(wire.query("begin; insert into fruit values ('half an apple')"));
  await dying.until("Z");
  const count = value(next, "select count(*) from fruit");
  dying.socket.resetAndDestroy();
  t.equal(await count, "0");
});

void t.test("a client that dies in mid-exchange leaves nothing behind", async (t) => {
  const next = await connected(t);
  for (const [name, bytes] of [
    ["without Sync", wire.parse("select 1")],
    ["after an error without Sync", wire.parse("selec 1")],
    ["with an open portal", Buffer.concat([wire.parse("select 1"), bind("p")])],
    ["with half a message", wire.query("select 1").subarray(0, 7)],
    ["with half a start", null],
  ] as const) {
    const dying = await connectWire(embedded.url);
    if (bytes) {
      await dying.until("Z");
      dying.send(bytes);
    }
    const answer = value(next, "select 'sound'");
    dying.socket.resetAndDestroy();
    t.equal(await answer, "sound", name);
  }
});

void t.test("a portal can be read in parts, as pg-cursor does", async (t) => {
  const client = await connectWire(embedded.url);
  t.teardown(() => client.socket.destroy());
  await client.until("Z");
  client.send(wire.parse("select generate_series(1, 5)"));
  client.send(Buffer.concat([bind("C_1"), flush()]));
  await client.until("2");
  for (const [end, rows] of [
    ["s", 3],
    ["C", 2],
  ] as const) {
    client.send(Buffer.concat([execute("C_1", 3), flush()]));
    const part = await client.until(end);
    t.equal(part.filter(({ type }) => type === "D").length, rows);
  }
  client.send(Buffer.concat([closePortal("C_1"), wire.sync()]));
  t.match(await client.until("Z"), [{ type: "3" }, { type: "Z" }]);
});

void t.test("unsupported statements are refused, and the clients continue", async (t) => {
  const client = await connected(t);
  await client.query("create table filled (a int)");
  const refused = { code: "0A000" };
  const copy = "copy filled from stdin";
  for (const statement of [
    { text: copy },
    { text: copy, values: [] },
    { text: "listen news" },
    { name: "named", text: "select 1" },
  ])
    await t.rejects(client.query(statement), refused);
  await client.query("begin");
  await t.rejects(client.query(copy), refused);
  await t.rejects(client.query("select 1"), { code: "25P02" }, "a refused statement fails its transaction");
  await client.query("rollback");
  t.equal(await value(client, "select 1"), 1);
});

void t.test("a broken protocol ends its client, not the database", async (t) => {
  const next = await connected(t);
  for (const [name, bytes] of [
    ["an unknown message", "!\0\0\0\x04"],
    ["a message of two gigabytes", "Q\x7f\0\0\0"],
  ] as const) {
    const broken = await connectWire(embedded.url);
    await broken.until("Z");
    broken.send(Buffer.from(bytes));
    t.match((await broken.until("E")).at(-1)!.body.toString(), "08P01", name);
  }
  t.equal(await value(next, "select 1"), 1);
});

void t.test("settings stay with the client that made them", async (t) => {
  const [one, other] = [await connected(t), await connected(t)];
  await one.query("create role reader");
  await one.query("set timezone = 'Asia/Tokyo'; set role reader");
  const settings = "select concat_ws(' ', current_setting('timezone'), current_user, current_setting('search_path'))";
  t.equal(await value(other, settings), "UTC postgres venuewatch, public, analytics");
  t.equal(await value(one, settings), "Asia/Tokyo reader venuewatch, public, analytics", "the settings are restored");
  await one.query("reset role; reset timezone");
  t.equal(await value(one, settings), "UTC postgres venuewatch, public, analytics");
});

void t.test("temporary tables and locks do not reach the next client", async (t) => {
  const [one, other] = [await connected(t), await connected(t)];
  await one.query("create temp table scratch (a int)");
  await one.query("select pg_advisory_lock(7)");
  await t.rejects(other.query("select * from scratch"), { code: "42P01" });
  t.equal(await value(other, "select count(*) from pg_locks where locktype = 'advisory'"), "0");
});

void t.test("the service's programs keep their own settings when they take turns", async (t) => {
  const settings = "application_name timezone statement_timeout work_mem";
  const valuesOf = async (client: Client) => {
    const shown = settings.split(" ").map((name) => `current_setting('${name}')`);
    return value(client, `select concat_ws(' ', ${shown.join(", ")})`);
  };
  const started = (application_name: string, options?: string) => connected(t, { application_name, options });
  const core = await started("venuewatch core", "-c timezone=Asia/Tokyo --statement-timeout=5s");
  const web = await started("venuewatch web", "-c timezone=UTC --statement-timeout=5s");
  const probe = await started("venuewatch probe");
  const person = await started("psql");
  await web.query("set timezone = 'Europe/Paris'");
  for (let turn = 0; turn < 3; turn++) {
    t.equal(await valuesOf(core), "venuewatch core Asia/Tokyo 5s 16MB");
    t.equal(await valuesOf(probe), "venuewatch probe UTC 0 16MB", "no setting of another program is left");
    t.equal(await valuesOf(web), "venuewatch web Europe/Paris 5s 16MB");
  }
  await web.query("set work_mem = '9MB'");
  t.equal(await valuesOf(core), "venuewatch core Asia/Tokyo 5s 16MB");
  t.equal(await valuesOf(web), "venuewatch web Europe/Paris 5s 9MB");
  t.equal(await valuesOf(person), "psql UTC 20s 16MB");
  await probe.query("set role pg_read_all_data");
  t.equal(await value(core, "select current_user"), "postgres", "no role of another program is left");
  t.equal(await value(probe, "select current_user"), "pg_read_all_data");
  await web.query("reset timezone");
  t.equal(await valuesOf(core), "venuewatch core Asia/Tokyo 5s 16MB");
  t.equal(await valuesOf(web), "venuewatch web UTC 5s 9MB");
});

void t.test("wrong start-up parameters are refused", async (t) => {
  const wrong = new Client({ connectionString: embedded.url, options: "-c no_such_setting=1" });
  await t.rejects(wrong.connect(), { code: "42704", severity: "FATAL" });
});

void t.test("a login has its role's rights, and cannot gain others", async (t) => {
  const owner = await connected(t);
  await owner.query("create table secret (a int); create role other; grant usage on language plpgsql, sql to guest");
  const guest = await connectedGuest(t);
  const who = "select concat_ws(' ', session_user, current_user, current_setting('is_superuser'))";
  for (const way of [
    "set role postgres",
    "set role other",
    "set session role postgres",
    "set session authorization postgres",
    "set session authorization default",
    "reset session authorization",
    "discard all",
    "select set_config('role', 'postgres', false)",
    "select set_config('session_' || 'authorization', 'postgres', false)",
    "select 1; set session authorization postgres; select * from secret",
    "do $$ begin execute 'set session ' || 'authorization postgres'; end $$",
    "do $$ begin execute 'reset session authorization'; end $$",
    "begin; set local session authorization postgres",
    "create function pg_temp.f() returns text language sql set role = postgres as 'select 1'; select pg_temp.f()",
    "do $$ begin begin perform 1 / 0; exception when others then set role postgres; end; end $$",
    "prepare up as select set_config('role', 'postgres', false); execute up",
    "alter role guest superuser",
    "grant postgres to guest",
    "select * from pg_authid",
    "select pg_read_file('PG_VERSION')",
    "copy (select 1) to '/tmp/pgdata/x'",
    "copy (select 1) to program 'true'",
    "set log_min_messages = debug1",
    "create extension pgcrypto",
  ]) {
    await t.rejects(guest.query(way), /./, way);
    await t.rejects(guest.query({ text: way, values: [] }), /./, way);
    await guest.query("rollback");
    t.equal(await value(guest, who), "guest guest off", way);
  }
  await t.rejects(guest.query("select * from secret"), { code: "42501" });
  await t.rejects(connectedGuest(t, { options: "-c role=postgres" }), { code: "42501" });
  await guest.query("reset all; deallocate all");
  t.equal(await value(guest, who), "guest guest off", "settings are undone");
});

void t.test("code that a login leaves behind never runs with another's rights", async (t) => {
  const owner = await connected(t);
  const guest = await connectedGuest(t);
  // the host queries a session at the end of its turn: neither that query nor a later client may run the guest's code
  await guest.query(`
    create function pg_temp.leak() returns text language plpgsql as $$
      begin
        perform 1 from pg_authid;
        raise exception 'as %', current_user using errcode = 'P0042';
      exception when insufficient_privilege then return 'refused';
      end $$;
    create temp view pg_settings as select 'jit' as name, pg_temp.leak() as setting, 'session' as source, 'user' as context;
    set search_path = pg_temp, pg_catalog;
    set timezone = 'Asia/Tokyo'`);
  t.equal(await value(owner, "select current_user::text"), "postgres");
  t.equal(await value(guest, "select current_setting('timezone') || current_user"), "Asia/Tokyoguest");
});

void t.test("statements of several users do not mix", async (t) => {
  const clients = [...[await connectedGuest(t), await connected(t)], ...[await connectedGuest(t), await connected(t)]];
  const each = Array.from({ length: 40 }, (_, i) => i);
  const seen = await Promise.all(each.map((i) => value(clients[i % 4]!, "select current_user::text")));
  const expected = each.map((i) => (i % 2 === 0 ? "guest" : "postgres"));
  t.strictSame(seen, expected);
});

void t.test("continuous aggregates can be created and refreshed", async (t) => {
  const client = await connected(t);
  await client.query(`
    create table reading (at timestamptz not null, v int);
    select create_hypertable('reading', 'at');
    insert into reading select '2025-01-01Z'::timestamptz + g * interval '1 second', g from generate_series(0, 119) g`);
  await client.query(`
    create materialized view reading_minute with (timescaledb.continuous) as
    select time_bucket('1 minute', at) as minute, count(*) as n from reading group by 1 with no data`);
  await client.query("call refresh_continuous_aggregate('reading_minute', null, null)");
  t.equal(await value(client, "select string_agg(n::text, ',') from reading_minute"), "60,60");
});

void t.test("large answers and large statements work", async (t) => {
  const client = await connected(t);
  const { rows } = await client.query("select repeat('x', 1000) as x from generate_series(1, 3000)");
  t.equal(rows.length, 3000);
  t.match(await client.query("select length($1) as n", ["y".repeat(3_000_000)]), { rows: [{ n: 3_000_000 }] });
});

void t.test("a message may end at any place in the backend's buffer", async (t) => {
  const client = await connected(t);
  // the buffer has 8192 bytes; in one of these each message of the exchange ends with it
  const lengths = (from: number) => Array.from({ length: 150 }, (_, less) => from - less);
  const exchanges = [
    ...[...lengths(2 * 8192), ...lengths(8192)].map(
      (length) => [length, "select length($1) as n", "x".repeat(length)] as const,
    ),
    ...lengths(8192).map((length) => [length, `select $1::int as n /* ${"x".repeat(length)} */`, length] as const),
  ];
  for (const [length, text, parameter] of exchanges) {
    const { rows } = await client.query<{ n: number }>(text, [parameter]);
    if (rows[0]!.n !== length) t.fail(`${text.slice(0, 30)}: ${length} became ${rows[0]!.n}`);
  }
  t.pass("all statements were answered");
});

void t.test("a client with the secret can cancel a statement", async (t) => {
  const client = await connected(t);
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
  const endless = "do $$ begin loop perform 1; end loop; end $$";
  for (const text of [endless, "select pg_sleep(1e9)"]) {
    const running = t.rejects(client.query(text), { code: "57014" }, text);
    let ended = false;
    void running.then(() => (ended = true));
    await cancel(processID, secretKey ^ 1);
    // repeatedly, as it may not have begun
    while (!ended) {
      await cancel(processID, secretKey);
      await sleep(20);
    }
    await running;
  }
  t.equal(await value(client, "select 1"), 1, "the client is still served");
});

async function cancel(client: number, secret: number): Promise<void> {
  const socket = connect(embedded.port, "127.0.0.1");
  const packet = Buffer.alloc(16);
  for (const [place, word] of [16, 80877102, client, secret].entries()) packet.writeInt32BE(word, 4 * place);
  socket.end(packet);
  socket.resume();
  await once(socket, "close");
}

void t.test("the owner has a statement_timeout by default", async (t) => {
  for (const [config, timeout] of [
    [{}, "20s"],
    [{ application_name: "psql" }, "20s"],
    [{ options: "-c statement_timeout=0" }, "0"],
    [{ statement_timeout: 7_000 }, "7s"],
    // the service's programs set their own limits
    [{ application_name: "venuewatch migrate" }, "0"],
  ] as const)
    t.equal(await value(await connected(t, config), "show statement_timeout"), timeout, JSON.stringify(config));
});

void t.test("statement_timeout applies, however it was set", async (t) => {
  const endless = "do $$ begin loop perform 1; end loop; end $$";
  const late = { code: "57014", message: /statement timeout/ };
  const started = await connected(t, { options: "-c statement_timeout=50ms" });
  await t.rejects(started.query(endless), late);
  const client = await connected(t);
  await client.query("set statement_timeout = '50ms'");
  await started.query("select 1");
  await t.rejects(client.query(endless), late);
  await client.query("reset statement_timeout");
  t.equal(await value(client, "select 1"), 1);

  await client.query("begin; set statement_timeout = '600ms'");
  await client.query("commit");
  await t.rejects(client.query(endless), late, "set in a transaction");
  await client.query("begin; set statement_timeout = '1ms'");
  await client.query("rollback");
  t.equal(await value(client, "show statement_timeout"), "600ms");
  await t.resolves(client.query("select pg_sleep(0.03)"), "rolled back");
  await started.query("reset all");
  await t.rejects(started.query(endless), late, "after a reset, the start-up value applies");
});

void t.test("protocol options are reported, and are no settings", async (t) => {
  const client = await connectWire(embedded.url, false, { "_pq_.unknown": "1" });
  t.match((await client.until("v")).at(-1)!.body.toString(), "_pq_.unknown");
  await client.until("Z");
  client.send(wire.query("show _pq_.unknown"));
  t.match((await client.until("E")).at(-1)!.body.toString(), /unrecognized configuration parameter/);
  client.socket.destroy();
});
