import { placeOf, addressesOf } from "../../../shared/database/address.js";
import t, { type Test } from "tap";
import { databaseFault } from "../../../shared/database/fault.js";
import { openConnections } from "../../../shared/database/hosts.js";
import { connect, openPool, sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { emptyDatabase } from "../../support/database.js";
import { makeGate } from "../../support/gate.js";
import { serveTcp } from "../../support/tcp-server.js";

const log = makeLog("test", "error");

void t.test("an address is split into one for each of its hosts", (t) => {
  for (const [url, addresses, place] of [
    ["postgres://u@a:1/d", ["postgres://u@a:1/d"], "a:1/d"],
    [
      "postgresql://u:p%2C@a:1,b/d?sslmode=require",
      ["postgresql://u:p%2C@a:1/d?sslmode=require", "postgresql://u:p%2C@b/d?sslmode=require"],
      "a:1,b/d",
    ],
    ["postgres://[::1]:1,[::2]:2/d,e", ["postgres://[::1]:1/d,e", "postgres://[::2]:2/d,e"], "[::1]:1,[::2]:2/d,e"],
    ["postgres:///d?host=/tmp", ["postgres:///d?host=/tmp"], "/d"],
  ] as const) {
    t.same(addressesOf(url), addresses);
    t.equal(placeOf(url), place);
  }
  t.end();
});

void t.test("of several hosts, the one that answers is used", async (t) => {
  const url = await emptyDatabase(t);
  const { host } = new URL(url);
  // tcpmux, which nothing serves
  const several = url.replace(host, `127.0.0.1:1,${host}`);
  const pool = openPool(several, { applicationName: "test", log, max: 1 });
  t.teardown(() => pool.close());
  t.same(await pool.query(sql`select 1 as one`), [{ one: 1 }]);
  t.same(await pool.transaction((tx) => tx.query(sql`select 2 as two`)), [{ two: 2 }]);
  t.same(await (await pool.textRows("select 3", [], 10)).next(), [[3]]);
});

void t.test("a host that hangs is tried once for all connections", async (t) => {
  const url = await emptyDatabase(t);
  const { host } = new URL(url);
  let connections = 0;
  const hanging = `127.0.0.1:${await serveTcp(t, () => (connections += 1))}`;
  const pool = openPool(url.replace(host, `${hanging},${host}`), { applicationName: "test", log, max: 1 });
  t.teardown(() => pool.close());
  // three seconds each would exceed the ten for which a pool's queue waits
  const answers = await Promise.all(Array.from({ length: 8 }, () => pool.query(sql`select 1 as one`)));
  t.same(answers, Array(8).fill([{ one: 1 }]));
  t.equal(connections, 1);
});

void t.test("all connections leave a host that begins to hang", async (t) => {
  const { first, several } = await twoHosts(t);
  const lines: string[] = [];
  const log = makeLog("test", "warn", (line) => lines.push(line));
  const pool = openPool(several, { applicationName: "test", log, max: 2 });
  t.teardown(() => pool.close());
  await pool.query(sql`select`);
  first.mute();
  const queries = Array.from({ length: 12 }, () => pool.query(sql`select 1 as one`));
  const [underWay, ...others] = await Promise.allSettled(queries);
  t.match(underWay, { status: "rejected", reason: { message: /^Connection terminated/ } });
  for (const other of others) t.match(other, { status: "fulfilled", value: [{ one: 1 }] });
  t.match(lines, [/the database moved to another host/]);
  await first.shut();
});

for (const readOnly of [true, false])
  void t.test(`a host that only refuses new connections, ${readOnly ? "read" : "written"}`, async (t) => {
    const { first, several } = await twoHosts(t);
    const lines: string[] = [];
    const log = makeLog("test", "warn", (line) => lines.push(line));
    const connections = openConnections(several, { max: 2 }, { readOnly, log });
    t.teardown(() => connections.end());
    const client = await connections.connect();
    t.teardown(() => client.release(true));
    client.on("error", () => {});
    first.refuse();
    (await connections.connect()).release();

    const answer = await client.query("select 1 as one").catch((error: unknown) => error);
    if (readOnly) {
      t.match(answer, { rows: [{ one: 1 }] }, "its running session continues");
      t.match(lines, [/reading from another host of the database/]);
    } else {
      t.ok(answer instanceof Error, "the connection is closed at once");
      t.match(lines, [/the database moved to another host/]);
    }
  });

void t.test("where no host can be used, each is listed with its reason", async (t) => {
  const url = "postgres://me:hunter2@127.0.0.1:1,localhost:1/venues";
  const fault = (await connect(url, { applicationName: "test", log }).catch((error: unknown) => error)) as Error;
  t.match(
    fault.message,
    /^none of the hosts of the database 127\.0\.0\.1:1,localhost:1\/venues can be used \(127\.0\.0\.1:1: connect ECONNREFUSED .*; localhost:1: .*ECONNREFUSED.*\); start or promote one, or correct DATABASE_URL$/,
  );
  t.notMatch(fault.message, /hunter2/);
  t.equal(databaseFault(fault, url), null, "it is not explained twice");
});

async function twoHosts(t: Test) {
  const url = await emptyDatabase(t);
  const [first, second] = [await makeGate(t, url), await makeGate(t, url)];
  const [{ host }, { host: other }] = [new URL(first.url), new URL(second.url)];
  return { first, several: first.url.replace(host, `${host},${other}`) };
}
