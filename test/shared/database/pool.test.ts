import t from "tap";
import { openPool, sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { emptyDatabase } from "../../support/database.js";

const log = makeLog("test", "error");

void t.test("a pool of connections", async (t) => {
  const url = await emptyDatabase(t);
  const pool = openPool(url, { applicationName: "test", log, max: 1 });
  t.teardown(() => pool.close());

  await t.test("undoes a transaction that throws", async (t) => {
    await pool.script("create table kept (n int)");
    await t.rejects(
      pool.transaction(async (tx) => {
        await tx.query(sql`insert into kept values (${1})`);
        throw new Error("changed our mind");
      }),
      { message: "changed our mind" },
    );
    t.strictSame(await pool.query(sql`select * from kept`), []);
  });

  await t.test("binds values, and reads large counts as numbers", async (t) => {
    const text = "'; drop table kept; --";
    const select = sql`select ${text}::text as text, 9007199254740991::bigint as big, 99.125::numeric as pct`;
    t.strictSame(await pool.query(select), [{ text, big: 9007199254740991, pct: 99.125 }]);
  });

  const skip = !process.env.DATABASE_URL && "the embedded database cannot end one client's session";
  await t.test("survives a lost connection", { skip }, async (t) => {
    const other = openPool(url, { applicationName: "test", log });
    t.teardown(() => other.close());
    const ended = pool.transaction(async (tx) => {
      const [row] = await tx.query<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      await other.query(sql`select pg_terminate_backend(${row!.pid}, 5000)`);
      await tx.query(sql`select 1`);
    });
    await t.rejects(ended, /terminat|not queryable/i, "only that transaction fails");
    t.strictSame(await pool.query(sql`select 1 as one`), [{ one: 1 }], "and the pool makes a new one");
  });
});
