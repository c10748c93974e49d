import { once } from "node:events";
import { Client } from "pg";
import t, { type Test } from "tap";
import { startEmbedded } from "../../../server/database/embedded.js";
import * as wire from "@venuewatch/embedded-timescaledb/internals/wire-messages";
import { makeLog } from "../../../shared/log/log.js";
import { guestUrl } from "../../support/guest-url.js";
import { metadataIsAnswered } from "../../support/metadata.js";
import { until } from "../../support/until.js";
import { connectWire, type WireClient } from "../../support/wire-client.js";

const dataDir = t.testdir();
const logged: string[] = [];
const log = makeLog("database", "warn", (line) => logged.push(line));

void t.test("an idle client that holds the database is rolled back and disconnected", async (t) => {
  const embedded = await startEmbedded({ dataDir, port: 0, log, idleTransactionMs: 300, maxClients: 3 });
  t.teardown(() => embedded.close());
  const next = await connected(t, embedded.url);
  await next.query("create table note (name text)");
  const knocking = await connectWire(embedded.url);
  await knocking.until("Z");
  // more often than the limit: requests of others must not extend it
  const knocks = setInterval(() => knocking.send(wire.sync()), 50);

  for (const [name, bytes] of [
    ["in a transaction", wire.query("begin; insert into note values ('x')")],
    ["without Sync", wire.parse("select 1")],
    ["with half a message in a transaction", Buffer.concat([wire.query("begin"), wire.query("commit").subarray(0, 7)])],
  ] as const) {
    const idle = await connectWire(embedded.url);
    await idle.until("Z");
    idle.send(bytes);
    const reason = idle.until("E");
    const { rows } = await next.query("select * from note");
    t.same(rows, [], `idle ${name}: rolled back`);
    t.match((await reason).at(-1)!.body.toString(), "C25P03", "the client gets the reason");
    if (!idle.socket.closed) await once(idle.socket, "close");
  }

  clearInterval(knocks);
  const third = await connectWire(embedded.url);
  await third.until("Z");
  const fourth = await connectWire(embedded.url);
  const refused = await fourth.until("E");
  t.match(refused.at(-1)!.body.toString(), "C53300", "a client beyond the limit is refused");
  t.match(logged.at(-1), /refused a client.*connections beyond the limit/);
  knocking.socket.destroy();
  third.socket.destroy();
});

void t.test("a statement that runs too long is cancelled", async (t) => {
  const limits = { turnLimitMs: 300, statementLimitMs: 600 };
  const embedded = await startEmbedded({ dataDir, port: 0, log, logins: ["guest"], ...limits });
  t.teardown(() => embedded.close());
  const [owner, other] = [await connected(t, embedded.url), await connected(t, embedded.url)];
  const guest = await connected(t, await guestUrl(embedded.url, dataDir));
  const loop = "do $$ begin loop perform 1; end loop; end $$";
  await t.rejects(guest.query(loop), { code: "42501" }, "a guest may not run functions");
  await owner.query("grant usage on language plpgsql to guest");
  for (const [name, text] of [
    ["a loop", loop],
    ["a sleep", "select pg_sleep(1e9)"],
    ["a join", "select count(*) from generate_series(1, 1e6) a, generate_series(1, 1e6) b"],
    ["an endless query", "with recursive n as (select 1 i union all select i + 1 from n) select count(*) from n"],
    [
      "an endless handler",
      "do $$ begin loop begin perform 1 / 0; exception when others then null; end; end loop; end $$",
    ],
  ] as const) {
    const ended = t.rejects(guest.query(text), { code: "57014", message: /300 ms/ }, name);
    t.match(await other.query("select 1 as one"), { rows: [{ one: 1 }] });
    await ended;
  }
  await t.rejects(owner.query("select pg_sleep(1e9)"), { code: "57014" });
  await owner.query("set statement_timeout = '1h'");
  await t.rejects(owner.query("select pg_sleep(1e9)"), { code: "57014" }, "whatever the session has set");
  await guest.query("begin");
  await t.rejects(guest.query(loop), { code: "57014" });
  await other.query("select 1");
  await t.rejects(guest.query("select 1"), Error, "the end of its transaction has ended the session");
});

void t.test("of clients that do not read, those with the most memory are disconnected", async (t) => {
  const embedded = await startEmbedded({ dataDir, port: 0, log, logins: ["guest"] });
  t.teardown(() => embedded.close());
  const guest = await guestUrl(embedded.url, dataDir);
  const owner = await connected(t, embedded.url);
  const before = process.memoryUsage().external;
  const silent: WireClient[] = [];
  const refusals = () => logged.filter((line) => /clients that hold too much memory/.test(line)).length;
  for (let i = 0; i < 5; i++) {
    const client = await connectWire(guest);
    silent.push(client);
    await client.until("Z");
    client.socket.pause();
    client.send(wire.query("select repeat('x', 60000000)"));
    t.match((await owner.query("select 1 as one")).rows, [{ one: 1 }], "others are answered");
  }
  await until(() => refusals() > 0);
  await until(() => process.memoryUsage().external - before < 300 * 1024 ** 2);
  for (const { socket } of silent) socket.resume();
  const ended = () => silent.filter(({ socket }) => socket.closed).length;
  await until(() => ended() > 0);
  t.ok(ended() < silent.length, `${ended()} of ${silent.length} were disconnected, not all`);
  for (const { socket } of silent) socket.destroy();
});

void t.test("a client that does not log in in time is refused", async (t) => {
  const embedded = await startEmbedded({ dataDir, port: 0, log, loginLimitMs: 1_000 });
  t.teardown(() => embedded.close());
  const complaint = async (client: WireClient) => (await client.until("E")).at(-1)!.body.toString();

  // a newly started database is busy
  const busy = await connected(t, embedded.url);
  await busy.query("select 1");
  const silent = await connectWire(embedded.url, true);
  t.match(await complaint(silent), /C08P01.*expected the proof of a password within 1000 ms/s);
  const sleeping = busy.query("select pg_sleep(2.5)");
  const waiting = await connectWire(embedded.url);
  t.match(await complaint(waiting), /C57P03.*busy with others for 1000 ms/s, "another reason after waiting for others");
  await sleeping;
});

void t.test("an existing directory answers metadata queries", async (t) => {
  const embedded = await startEmbedded({ dataDir, port: 0, log });
  t.teardown(() => embedded.close());
  await metadataIsAnswered(t, await connected(t, embedded.url));
});

void t.test("a statement that cannot be cancelled ends the database, and all clients learn of it", async (t) => {
  const embedded = await startEmbedded({ dataDir, port: 0, log, statementLimitMs: 500 });
  const [stuck, waiting] = [await connected(t, embedded.url), await connected(t, embedded.url)];
  const deaf =
    "do $$ begin loop begin perform pg_sleep(1); exception when query_canceled then null; end; end loop; end $$";
  const rejections = [stuck.query(deaf), waiting.query("select 1")].map((query) => t.rejects(query, { code: "57P02" }));
  await t.rejects(embedded.failed, /longer than 500 ms/);
  await Promise.all(rejections);
  await embedded.close();

  const again = await startEmbedded({ dataDir, port: 0, log });
  t.teardown(() => again.close());
  t.pass("the directory can be started again");
});

void t.test("a WebAssembly trap ends the database with its cause", async (t) => {
  const embedded = await startEmbedded({ dataDir, port: 0, log });
  const client = await connected(t, embedded.url);
  // the build lacks its library
  const trap = "create conversion c for 'UTF8' to 'LATIN1' from pg_catalog.utf8_to_iso8859_1";
  const rejection = t.rejects(client.query(trap), { code: "57P02" });
  await t.rejects(embedded.failed, /^PostgreSQL crashed: (?!.*stack depth)/s, "the error names the trap's own cause");
  await rejection;
  await embedded.close();
});

async function connected(t: Test, url: string): Promise<Client> {
  const client = new Client(url);
  client.on("error", () => {});
  await client.connect();
  t.teardown(() => client.end().catch(() => {}));
  return client;
}
