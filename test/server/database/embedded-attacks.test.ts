/** Attacks that would end the embedded database for everybody, or keep others out. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Client } from "pg";
import t, { type Test } from "tap";
import * as wire from "@venuewatch/embedded-timescaledb/internals/wire-messages";
import { migratedDatabase } from "../../support/database.js";
import { bind, connectWire, execute, packet } from "../../support/wire-client.js";

const skip = process.env["DATABASE_URL"] ? "the embedded database only" : false;
const url = skip ? "" : (await migratedDatabase(t)).url;
const owner = new Client(url);
if (!skip) {
  await owner.connect();
  t.teardown(() => owner.end());
  await owner.query(
    "create role guest login password 'one'; create table public.filled (a text); grant insert on public.filled to guest",
  );
}

function addressOf(user: string, password: string): string {
  const address = new URL(url);
  address.username = user;
  address.password = password;
  return address.href;
}

async function connected(t: Test, address = addressOf("guest", "one")): Promise<Client> {
  const client = new Client(address);
  client.on("error", () => {});
  await client.connect();
  t.teardown(() => client.end().catch(() => {}));
  return client;
}

async function isServed(t: Test, after: string): Promise<void> {
  await t.resolves(owner.query("select 1"), `others are served after ${after}`);
}

const header = (type: string, length: number) => {
  const bytes = Buffer.alloc(5, type, "latin1");
  bytes.writeUInt32BE(length >>> 0, 1);
  return bytes;
};
const good = Buffer.concat([wire.parse("select 1"), bind(""), execute("", 0)]);
const before: [when: string, bytes: Buffer][] = [
  ["at once", Buffer.alloc(0)],
  ["within an exchange", good],
  ["after a failed message", wire.parse("selec")],
  ["after a statement", wire.query("select 1")],
  ["within a transaction", wire.query("begin")],
  ["while rows are copied out", wire.query("copy (select repeat('x', 5000) from generate_series(1, 1000)) to stdout")],
];
const broken: [what: string, bytes: Buffer][] = [
  ...["S", "Q", "D", "p", "d"].map((type): [string, Buffer] => [`${type} of no length`, header(type, 0)]),
  ["Sync of 4 GiB", header("S", 2 ** 32 - 1)],
  ["Query of 2 GiB", header("Q", 2 ** 31)],
  ...[..."DECSH"].map((type): [string, Buffer] => [`a long ${type}`, packet(type, "x".repeat(10_000))]),
  ...[..."!\0rpB\xff"]
    .filter((type) => type !== "B")
    .map((type): [string, Buffer] => [`type ${JSON.stringify(type)}`, packet(type, "x")]),
];

void t.test("a broken message ends only its sender's connection, at any point", { skip }, async (t) => {
  for (const [when, first] of before)
    for (const [what, bytes] of broken) {
      const client = await connectWire(addressOf("guest", "one"));
      await client.until("Z");
      client.send(Buffer.concat([first, bytes]));
      const end = await lastError(client);
      t.match(end, "C08P01", `${what} ${when}`);
    }
  await isServed(t, "all of them");
});

/** The error with which the connection ends. */
async function lastError(client: Awaited<ReturnType<typeof connectWire>>): Promise<string> {
  for (;;) {
    const body = (await client.until("E")).at(-1)!.body.toString();
    if (body.includes("FATAL")) return body;
  }
}

const starts: [what: string, bytes: Buffer][] = [
  ["a start-up packet of no length", header("\0", 0)],
  ["one of 64 MiB", Buffer.from([4, 0, 0, 1])],
  ["an unknown version", Buffer.from([0, 0, 0, 9, 0, 9, 0, 0, 0])],
  ["a cancel request without a secret", Buffer.from([0, 0, 0, 12, 4, 210, 22, 46, 0, 0, 0, 1])],
  ["another protocol", Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n")],
  [
    "endless requests for encryption",
    Buffer.concat(Array<Buffer>(1_000).fill(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]))),
  ],
];

void t.test("a broken start-up message ends only its sender's connection", { skip }, async (t) => {
  for (const [what, bytes] of starts) {
    const socket = await stranger();
    let answer = "";
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
    socket.write(bytes);
    await once(socket, "close");
    t.match(answer, /^N{0,2}E.*C08P01/s, what);
    await isServed(t, what);
  }
});

async function stranger(): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

const refused: [sql: string, message: RegExp][] = [
  ...[
    "copy filled from stdin",
    "COPY public.filled (a) FROM STDIN WITH (FORMAT csv)",
    "select 1; copy filled from stdin; select 2",
    "--\rcopy filled from stdin",
    "/* a /* nested */ */ copy/**/filled from--\nstdin",
    "select $$'$$, $a$ $$ $a$; copy filled from stdin",
    "set standard_conforming_strings = off; select 1",
    String.raw`select '\''; copy filled from stdin; select '\''`,
    String.raw`select E'\'', ''; copy filled from stdin`,
    String.raw`copy U&"f\0069lled" from stdin`,
    String.raw`copy U&"f!0069lled" uescape '!' from stdin`,
    "copy filled from stdin (on_error ignore) where a <> 'stdin'",
    "begin; copy filled from stdin",
    "copy ready from stdin",
  ].map((sql): [string, RegExp] => [sql, /COPY FROM STDIN is not supported/]),
  ...["listen x", 'LISTEN "X"', "--\rlisten x", "select ''; listen x", String.raw`listen U&"\0061"`].map(
    (sql): [string, RegExp] => [sql, /LISTEN is not supported/],
  ),
  ...["set my.own = 1", "set local my.own to default", "reset my.own", 'set "My".own = 1'].map(
    (sql): [string, RegExp] => [sql, /only PostgreSQL's and TimescaleDB's own settings/],
  ),
  ...[
    "select set_config('my.own', '1', false)",
    "select count(set_config('a' || g || '.b', '', true)) from generate_series(1, 3) g",
    "prepare p as select set_config('jit', 'off', false); execute p",
  ].map((sql): [string, RegExp] => [sql, /set_config is not supported/]),
  ["alter role guest set my.own = 1", /settings of a role are not supported/],
];

void t.test("unsupported statements are refused, however they are spelt", { skip }, async (t) => {
  const guest = await connected(t);
  await owner.query("create table ready (a text); grant all on ready to guest");
  for (const [sql, message] of refused)
    if (sql.startsWith("set standard")) await guest.query(sql);
    else
      for (const values of sql.includes(";") ? [undefined] : [undefined, []]) {
        await t.rejects(guest.query({ text: sql, values }), { code: "0A000", message }, sql);
        await guest.query("rollback; reset all");
      }
  for (const blocks of ["execute 'lis' || 'ten x'", "execute 'set max_stack_' || 'depth = 100'", "listen x"])
    await t.rejects(owner.query(`do $$ begin ${blocks}; end $$`), { code: "0A000" }, blocks);
  for (const allowed of [
    "select 'copy filled from stdin', $$; listen x $$ /* listen x */ -- copy filled from stdin",
    "copy (select 'stdin' as \"from stdin\") to stdout",
    "set timescaledb.enable_optimizations = off; reset timescaledb.enable_optimizations",
    "notify x; unlisten x; unlisten *",
  ])
    await t.resolves(guest.query(allowed), allowed);
  await t.resolves(owner.query("select set_config('work_mem', '8MB', false); set my.own = 1; reset all"));
  t.match(await owner.query("select from filled"), { rowCount: 0 });
});

void t.test("a guest's settings survive the turns of others", { skip }, async (t) => {
  const guest = await connected(t);
  await guest.query("set timezone = 'Asia/Tokyo'; set timescaledb.enable_optimizations = off");
  await owner.query("select 1");
  const { rows } = await guest.query(
    "select current_setting('timezone') || current_setting('timescaledb.enable_optimizations') as both",
  );
  t.same(rows, [{ both: "Asia/Tokyooff" }]);
  await t.rejects(connected(t, `${addressOf("guest", "one")}?options=-c%20my.own%3D1`), { code: "42704" });
});

void t.test("an answer of more rows than a guest may hold in memory is cancelled", { skip }, async (t) => {
  const guest = await connected(t);
  for (const sql of [
    "select repeat('x', 1000000) from generate_series(1, 90)",
    "copy (select repeat('x', 1000000) from generate_series(1, 90)) to stdout",
  ])
    await t.rejects(guest.query(sql), { code: "54000", message: /64 MiB/ }, sql);
  const { rows } = await guest.query<{ x: string }>("select repeat('x', 9000000) as x");
  t.equal(rows[0]!.x.length, 9_000_000, "less is allowed");
});

void t.test("a guest cannot raise the memory for temporary tables", { skip }, async (t) => {
  const guest = await connected(t);
  await t.rejects(guest.query("set temp_buffers = '1GB'"), { code: "22023" });
});

void t.test("strangers keep nobody out", { skip }, async (t) => {
  const strangers = await Promise.all(Array.from({ length: 150 }, stranger));
  t.teardown(() => strangers.forEach((socket) => socket.destroy()));
  const guest = await connected(t);
  t.match(await guest.query("select 1 as one"), { rows: [{ one: 1 }] });
  for (const first of strangers.slice(0, 51)) if (!first.closed) await once(first.resume(), "close");
  t.notOk(strangers.at(-1)!.closed, "those that came first have left");
});

void t.test("a stranger who connects again and again keeps nobody out", { skip }, async (t) => {
  let flooding = true;
  let opened = 0;
  const flood = async () => {
    while (flooding) {
      opened++;
      await once((await stranger()).resume(), "close");
    }
  };
  const floods = Array.from({ length: 150 }, flood);
  let refused = 0;
  for (let i = 0; i < 20; i++) {
    const guest = await connected(t).catch(() => null);
    if (guest === null) refused++;
    else await guest.end();
  }
  flooding = false;
  // ends those that are still on their way
  await Promise.all(floods);
  t.ok(refused <= 1, `${refused} of 20 logins were refused among ${opened} connections`);
});

void t.test("one login leaves connections to the owner", { skip }, async (t) => {
  const guests = [];
  for (let i = 0; i < 50; i++) guests.push(await connected(t));
  await t.rejects(connected(t), { code: "53300" });
  await t.resolves(connected(t, url));
  await Promise.all(guests.map((guest) => guest.end()));
});

void t.test("a changed password counts from its change on", { skip }, async (t) => {
  const logsIn = (password: string) => connected(t, addressOf("changing", password));
  await t.rejects(logsIn("one"), { code: "28P01" });
  await owner.query("create role changing login password 'one'");
  await t.resolves(logsIn("one"));
  await owner.query("begin; alter role changing password 'two'; rollback");
  await t.resolves(logsIn("one"), "a rolled-back change counts for nothing");
  await owner.query("alter role changing password 'two'");
  await t.resolves(logsIn("two"));
  await t.rejects(logsIn("one"), { code: "28P01" });
  await owner.query("do $$ begin execute 'alter role changing password ' || quote_literal('three'); end $$");
  await t.rejects(logsIn("two"), { code: "28P01" });
  await owner.query("alter role changing rename to changed; alter role changed rename to changing");
  await t.resolves(logsIn("three"));
  await owner.query("alter role changing nologin");
  await t.rejects(logsIn("three"), { code: "28P01" });
  await owner.query("alter role changing login; drop role changing");
  await t.rejects(logsIn("three"), { code: "28P01" });
});

void t.test("many statements of a login delay the owner by one of them", { skip }, async (t) => {
  const guests = await Promise.all(Array.from({ length: 10 }, () => connected(t)));
  const served: string[] = [];
  const slow = guests.map((guest) => guest.query("select pg_sleep(0.1)").then(() => served.push("guest")));
  await owner.query("select 1");
  served.push("owner");
  await Promise.all(slow);
  t.ok(served.indexOf("owner") <= 2, served.join(" "));
});
