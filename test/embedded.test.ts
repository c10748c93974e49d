import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { promisify } from "node:util";
import { Client, Pool, type ClientConfig } from "pg";
import t from "tap";
import { startEmbedded } from "../server/embedded/embedded.js";
import * as wire from "../server/embedded/messages.js";
import { makeLog } from "../server/log.js";
import {
  bind,
  closePortal,
  connectWire,
  execute,
  flush,
} from "./wire-client.js";

const embedded = await startEmbedded({
  dataDir: t.testdir(),
  port: 0,
  log: makeLog("database", "warn"),
});
t.teardown(() => embedded.close());

async function connected(t: Tap, config: ClientConfig = {}): Promise<Client> {
  const client = new Client({ connectionString: embedded.url, ...config });
  await client.connect();
  t.teardown(() => client.end());
  return client;
}
type Tap = Pick<typeof t, "teardown">;

async function value(client: Client, sql: string): Promise<unknown> {
  const { rows } = await client.query<unknown[]>({
    text: sql,
    rowMode: "array",
  });
  return rows[0]?.[0];
}

const psqlMissing =
  spawnSync("psql", ["--version"]).error !== undefined &&
  "psql is not installed";

void t.test(
  "psql connects without a password",
  { skip: psqlMissing },
  async (t) => {
    const { stdout } = await promisify(execFile)("psql", [
      ...["-w", "-X", "-A", "-t", "-h", "127.0.0.1", "-p", `${embedded.port}`],
      ...["-U", "nobody", "-c", "select 6 * 7", "anything"],
    ]);
    t.equal(stdout, "42\n");
  },
);

void t.test(
  "eight connections at once keep their transactions apart",
  async (t) => {
    const pool = new Pool({ connectionString: embedded.url, max: 8 });
    t.teardown(() => pool.end());
    await pool.query("create table account (id int primary key, held int)");
    await pool.query(
      "insert into account select g, 0 from generate_series(1, 8) g",
    );
    async function deposit(worker: number): Promise<void> {
      const client = await pool.connect();
      await client.query("begin");
      const { rows } = await client.query<{ held: number }>(
        "select held from account where id = $1",
        [worker],
      );
      await client.query("update account set held = $2 where id = $1", [
        worker,
        rows[0]!.held + 1,
      ]);
      await client.query(worker % 4 === 0 ? "rollback" : "commit");
      client.release();
    }
    const echoed: unknown[] = [];
    const work: Promise<unknown>[] = [];
    for (let round = 0; round < 10; round++)
      for (let worker = 1; worker <= 8; worker++) {
        work.push(deposit(worker));
        work.push(
          pool
            .query<{ n: number }>("select $1::int as n", [round * 8 + worker])
            .then(({ rows }) => echoed.push(rows[0]!.n)),
        );
      }
    await Promise.all(work);
    const held = await pool.query<{ held: number }>(
      "select held from account order by id",
    );
    t.same(
      held.rows.map((row) => row.held),
      [10, 10, 10, 0, 10, 10, 10, 0],
      "committed work is there, rolled back work is not",
    );
    t.same(
      echoed.sort((a, b) => Number(a) - Number(b)),
      Array.from({ length: 80 }, (_, i) => i + 1),
      "every query has had its own answer",
    );
  },
);

void t.test("waiting clients are served in the order they came", async (t) => {
  const holder = await connected(t);
  const waiting = [];
  for (let i = 0; i < 5; i++) waiting.push(await connected(t));
  await holder.query("begin");
  const served: number[] = [];
  const answers = waiting.map((client, i) =>
    client.query("select 1").then(() => served.push(i)),
  );
  await holder.query("select 1");
  t.same(served, [], "nobody comes in between in a transaction");
  await holder.query("commit");
  await Promise.all(answers);
  t.same(served, [0, 1, 2, 3, 4]);
});

void t.test("a client that dies in a transaction is rolled back", async (t) => {
  const next = await connected(t);
  await next.query("create table fruit (name text)");
  const dying = await connectWire(embedded.port);
  await dying.until("Z");
  dying.send(wire.query("begin; insert into fruit values ('half an apple')"));
  await dying.until("Z");
  const count = value(next, "select count(*) from fruit");
  dying.socket.resetAndDestroy();
  t.equal(await count, "0");
});

void t.test("a client that dies amid an exchange leaves nothing", async (t) => {
  const next = await connected(t);
  for (const [name, bytes] of [
    ["without Sync", wire.parse("select 1")],
    ["after an error without Sync", wire.parse("selec 1")],
    ["with an open portal", Buffer.concat([wire.parse("select 1"), bind("p")])],
    ["with half a message", wire.query("select 1").subarray(0, 7)],
    ["with half a start", null],
  ] as const) {
    const dying = await connectWire(embedded.port);
    if (bytes) {
      await dying.until("Z");
      dying.send(bytes);
    }
    const answer = value(next, "select 'sound'");
    dying.socket.resetAndDestroy();
    t.equal(await answer, "sound", name);
  }
});

void t.test("a portal is read piece by piece, as pg-cursor does", async (t) => {
  const client = await connectWire(embedded.port);
  t.teardown(() => client.socket.destroy());
  await client.until("Z");
  client.send(wire.parse("select generate_series(1, 5)"));
  client.send(Buffer.concat([bind("C_1"), flush()]));
  await client.until("2");
  client.send(Buffer.concat([execute("C_1", 3), flush()]));
  const first = await client.until("s");
  t.equal(first.filter(({ type }) => type === "D").length, 3);
  client.send(Buffer.concat([execute("C_1", 3), flush()]));
  const second = await client.until("C");
  t.equal(second.filter(({ type }) => type === "D").length, 2);
  client.send(Buffer.concat([closePortal("C_1"), wire.sync()]));
  t.match(await client.until("Z"), [{ type: "3" }, { type: "Z" }]);
});

void t.test(
  "what would crash or mislead is refused, and all live on",
  async (t) => {
    const client = await connected(t);
    await client.query("create table filled (a int)");
    const refused = { code: "0A000" };
    await t.rejects(client.query("copy filled from stdin"), refused);
    await t.rejects(
      client.query({ text: "copy filled from stdin", values: [] }),
      refused,
    );
    await t.rejects(client.query("listen news"), refused);
    await t.rejects(client.query({ name: "named", text: "select 1" }), refused);
    await client.query("begin");
    await t.rejects(client.query("copy filled from stdin"), refused);
    await t.rejects(
      client.query("select 1"),
      { code: "25P02" },
      "a refused statement fails its transaction, as any error does",
    );
    await client.query("rollback");
    t.equal(await value(client, "select 1"), 1);
  },
);

void t.test(
  "a broken protocol ends its client, not the database",
  async (t) => {
    const next = await connected(t);
    const unknown = await connectWire(embedded.port);
    await unknown.until("Z");
    unknown.send(Buffer.from("!\0\0\0\x04"));
    t.match((await unknown.until("E")).at(-1)!.body.toString(), "08P01");
    const huge = await connectWire(embedded.port);
    await huge.until("Z");
    huge.send(Buffer.from("Q\x7f\0\0\0"));
    t.match((await huge.until("E")).at(-1)!.body.toString(), "08P01");
    t.equal(await value(next, "select 1"), 1);
  },
);

void t.test("settings stay with the client that made them", async (t) => {
  const [one, other] = [await connected(t), await connected(t)];
  await one.query("create role reader");
  await one.query("set timezone = 'Asia/Tokyo'; set role reader");
  await one.query("select 1");
  t.equal(await value(other, "show timezone"), "UTC");
  t.equal(await value(other, "select current_user::text"), "postgres");
  t.equal(await value(one, "show timezone"), "Asia/Tokyo", "they come back");
  t.equal(await value(one, "select current_user::text"), "reader");
  await one.query("reset role; reset timezone");
  t.equal(await value(one, "show timezone"), "UTC");
  t.equal(await value(one, "show search_path"), "venuewatch, public");
});

void t.test(
  "temporary tables and locks do not reach the next client",
  async (t) => {
    const [one, other] = [await connected(t), await connected(t)];
    await one.query("create temp table scratch (a int)");
    await one.query("select pg_advisory_lock(7)");
    await t.rejects(other.query("select * from scratch"), { code: "42P01" });
    const locks = "select count(*) from pg_locks where locktype = 'advisory'";
    t.equal(await value(other, locks), "0");
  },
);

void t.test(
  "start-up parameters are honoured, wrong ones refused",
  async (t) => {
    const client = await connected(t, {
      application_name: "tester",
      options: "-c timezone=Asia/Tokyo --statement-timeout=5s",
    });
    const other = await connected(t);
    await other.query("select 1");
    t.equal(await value(client, "show application_name"), "tester");
    t.equal(await value(client, "show timezone"), "Asia/Tokyo");
    t.equal(await value(client, "show statement_timeout"), "5s");
    const wrong = new Client({
      connectionString: embedded.url,
      options: "-c no_such_setting=1",
    });
    await t.rejects(wrong.connect(), { code: "42704", severity: "FATAL" });
  },
);

void t.test("a user who is a role has that role's rights", async (t) => {
  const owner = await connected(t);
  await owner.query("create role clerk; create table secret (a int)");
  const url = new URL(embedded.url);
  url.username = "clerk";
  const clerk = await connected(t, { connectionString: url.href });
  t.equal(await value(clerk, "select current_user::text"), "clerk");
  await t.rejects(clerk.query("select * from secret"), { code: "42501" });
});

void t.test("continuous aggregates are made and refreshed", async (t) => {
  const client = await connected(t);
  await client.query(`
    create table reading (at timestamptz not null, v int);
    select create_hypertable('reading', 'at');
    insert into reading select '2025-01-01Z'::timestamptz + g * interval '1 second', g from generate_series(0, 119) g`);
  await client.query(`
    create materialized view reading_minute with (timescaledb.continuous) as
    select time_bucket('1 minute', at) as minute, count(*) as n from reading group by 1 with no data`);
  await client.query(
    "call refresh_continuous_aggregate('reading_minute', null, null)",
  );
  t.equal(
    await value(client, "select string_agg(n::text, ',') from reading_minute"),
    "60,60",
  );
});

void t.test("large answers and large statements pass", async (t) => {
  const client = await connected(t);
  const { rows } = await client.query(
    "select repeat('x', 1000) as x from generate_series(1, 3000)",
  );
  t.equal(rows.length, 3000);
  const long = "y".repeat(3_000_000);
  const answer = await client.query<{ n: number }>("select length($1) as n", [
    long,
  ]);
  t.equal(answer.rows[0]!.n, long.length);
});

void t.test("messages may end anywhere in the backend's buffer", async (t) => {
  const client = await connected(t);
  // the buffer has 8192 bytes; in one of these each message of the exchange ends with it
  for (const length of [2 * 8192, 8192].flatMap(shortOf)) {
    const { rows } = await client.query<{ n: number }>(
      "select length($1) as n",
      ["x".repeat(length)],
    );
    if (rows[0]!.n !== length) t.equal(rows[0]!.n, length);
  }
  for (const length of shortOf(8192)) {
    const text = `select $1::int as n /* ${"x".repeat(length)} */`;
    const { rows } = await client.query<{ n: number }>(text, [length]);
    if (rows[0]!.n !== length) t.equal(rows[0]!.n, length);
  }
  t.pass("all were answered");
});

function shortOf(size: number): number[] {
  return Array.from({ length: 150 }, (_, less) => size - less);
}

void t.test("a cancel request is closed without an answer", async (t) => {
  const socket = connect(embedded.port, "127.0.0.1");
  const packet = Buffer.alloc(16);
  packet.writeInt32BE(16, 0);
  packet.writeInt32BE(80877102, 4);
  socket.end(packet);
  socket.resume();
  await once(socket, "close");
  t.equal(socket.bytesRead, 0);
});
