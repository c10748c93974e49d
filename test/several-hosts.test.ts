import t from "tap";
import { databaseFault } from "../server/database-fault.js";
import { addressesOf, placeOf } from "../server/database-hosts.js";
import { connect, openPool, sql } from "../server/db.js";
import { makeLog } from "../server/log.js";
import { emptyDatabase } from "./database.js";

const log = makeLog("test", "error");

void t.test("an address is one for each of its hosts", (t) => {
  for (const [url, addresses, place] of [
    ["postgres://u@a:1/d", ["postgres://u@a:1/d"], "a:1/d"],
    [
      "postgresql://u:p%2C@a:1,b/d?sslmode=require",
      [
        "postgresql://u:p%2C@a:1/d?sslmode=require",
        "postgresql://u:p%2C@b/d?sslmode=require",
      ],
      "a:1,b/d",
    ],
    [
      "postgres://[::1]:1,[::2]:2/d,e",
      ["postgres://[::1]:1/d,e", "postgres://[::2]:2/d,e"],
      "[::1]:1,[::2]:2/d,e",
    ],
    ["postgres:///d?host=/tmp", ["postgres:///d?host=/tmp"], "/d"],
  ] as const) {
    t.same(addressesOf(url), addresses);
    t.equal(placeOf(url), place);
  }
  t.end();
});

void t.test("of several hosts the one that answers is used", async (t) => {
  const url = await emptyDatabase(t);
  const { host } = new URL(url);
  // tcpmux, which nobody serves
  const several = url.replace(host, `127.0.0.1:1,${host}`);
  const pool = openPool(several, { applicationName: "test", log, max: 1 });
  t.teardown(() => pool.close());
  t.same(await pool.query(sql`select 1 as one`), [{ one: 1 }]);
  t.equal(
    await pool.transaction(async (tx) => {
      const [row] = await tx.query<{ two: number }>(sql`select 2 as two`);
      return row!.two;
    }),
    2,
  );
  const rows = await pool.textRows("select 3", []);
  t.same(rows.first, [[3]]);
});

void t.test("where no host can be used, each has its reason", async (t) => {
  const url = "postgres://me:hunter2@127.0.0.1:1,localhost:1/venues";
  const opening = connect(url, { applicationName: "test", log });
  const fault = await opening.catch((error: unknown) => error as Error);
  t.match(
    (fault as Error).message,
    /^none of the hosts of the database 127\.0\.0\.1:1,localhost:1\/venues can be used \(127\.0\.0\.1:1: connect ECONNREFUSED .*; localhost:1: .*ECONNREFUSED.*\); start or promote one, or correct DATABASE_URL$/,
  );
  t.notMatch((fault as Error).message, /hunter2/);
  t.equal(databaseFault(fault, url), null, "told once");
});
