import t from "tap";
import { openPool, type RowStream, sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { migratedDatabase } from "../../support/database.js";
import { manyIncidents } from "../../support/fleet.js";

const batchRows = 250;

const table = (limit: number) => [...[null, null, "all", 365, limit, null, null], "http://localhost/methodology"];

async function read(rows: RowStream): Promise<unknown[][]> {
  const all: unknown[][] = [];
  for (let batch = await rows.next(); batch; batch = await rows.next()) all.push(...batch);
  return all;
}

void t.test("rows from a cursor", async (t) => {
  const { pool: setUp, url } = await migratedDatabase(t);
  await manyIncidents(setUp, 20_000);
  // of one connection, so that a stream that held it would block everything
  const log = makeLog("test", "warn");
  const pool = openPool(url, { applicationName: "test", log, max: 1, statementTimeoutMs: 60_000 });
  t.teardown(() => pool.close());

  await t.test("all rows, in order, at every edge of a batch", async (t) => {
    for (const limit of [0, 1, batchRows - 1, batchRows, batchRows + 1, 2 * batchRows, 20_000]) {
      const rows = await pool.rows("incidents_csv", table(limit), batchRows);
      const id = rows.columns.indexOf("slug");
      const slugs = (await read(rows)).map((row) => row[id]);
      t.same([slugs.length, new Set(slugs).size], [limit, limit]);
      if (limit > 0) t.equal(slugs.at(-1), `okx-2020-01-01-rest-outage-${limit}`);
    }
  });

  await t.test("a list shorter than a batch holds no connection while it is read", async (t) => {
    const rows = await pool.rows("incidents_csv", table(200), batchRows);
    await pool.query(sql`select 1`);
    t.equal((await read(rows)).length, 200);
  });

  await t.test("a failing statement rejects at once", async (t) => {
    await t.rejects(pool.rows("incidents_csv", [...table(1).slice(0, -4), "x", null, null, ""], batchRows), {
      code: "22P02",
    });
    await pool.query(sql`select 1`);
  });

  await t.test("a reader that leaves returns the connection", async () => {
    const rows = await pool.rows("incidents_csv", table(20_000), batchRows);
    await rows.next();
    rows.close();
    await pool.query(sql`select 1`);
  });
});
