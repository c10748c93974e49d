import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import pg from "pg";
import t, { type Test } from "tap";
import { packagedFile } from "../../../shared/config/package.js";
import { databaseFault } from "../../../shared/database/fault.js";
import { openPool, sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { UserError } from "../../../shared/process/user-error.js";
import { emptyDatabase } from "../../support/database.js";
import { serveTcp } from "../../support/tcp-server.js";

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

// What a user reads of a database that cannot be used.

void t.test("an unreachable database is reported in one sentence, without its password", async (t) => {
  // tcpmux, which nothing serves; another test might take a free port
  const port = 1;
  const url = `postgres://me:hunter2@127.0.0.1:${port}/venues`;
  const fault = databaseFault(await errorOfConnecting(url), url);
  t.type(fault, UserError);
  t.equal(
    fault?.message,
    `the database 127.0.0.1:${port}/venues cannot be used (ECONNREFUSED): nothing listens there; start it, or correct DATABASE_URL`,
  );
});

void t.test("a server that accepts connections and sends nothing is reported after the timeout", async (t) => {
  const url = `postgres://me:x@127.0.0.1:${await serveTcp(t, () => {})}/venues`;
  const fault = { message: /cannot be used \(ETIMEDOUT\): it does not answer/ };
  t.match(databaseFault(await errorOfConnecting(url, 200), url), fault);
  const waiting = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 100 });
  t.teardown(() => waiting.end());
  const late: unknown = await waiting.query("select").catch((error: unknown) => error);
  t.match(databaseFault(late, url), fault, "a pool's query");
});

void t.test("a refusal is explained by its SQLSTATE, and any other error is unchanged", (t) => {
  for (const [message, code, fault] of [
    ["no", "3D000", "(3D000): it has no database of that name; create it, or correct DATABASE_URL"],
    ["server login has been failing, try again later", "08P01", "(08P01): PgBouncer cannot reach its server"],
    ["oops", undefined, null],
    ["syntax", "42601", null],
  ] as const) {
    const found = databaseFault(Object.assign(new Error(message), { code }), "postgres://db/venues");
    t.match(found, fault && { message: `the database db/venues cannot be used ${fault}` }, message);
  }
  t.end();
});

const refusesTimeouts =
  "cannot be used (08P01): PgBouncer refuses the startup parameter statement_timeout; add this line to the section [pgbouncer] of pgbouncer.ini, and reload it: " +
  "ignore_startup_parameters = options,statement_timeout,idle_in_transaction_session_timeout (docs/scaling.md)";

void t.test("a pooler that refuses our startup parameters", async (t) => {
  const port = await startPooler(t);
  const url = `postgres://me:x@127.0.0.1:${port}/venues`;
  const words = `the database 127.0.0.1:${port}/venues ${refusesTimeouts}`;
  t.equal(databaseFault(await errorOfConnecting(url), url)?.message, words);

  const error = (await promisify(execFile)(process.execPath, [packagedFile("dist/server/cli.js"), "channel", "list"], {
    env: { ...process.env, DATABASE_URL: url, LOG_LEVEL: "info" },
  }).catch((error: unknown) => error)) as { code: number; stderr: string };
  t.equal(error.code, 2, "an error that the user can correct");
  t.equal(error.stderr, `venuewatch: ${words}\n`, "without a stack trace");

  const scaling = await readFile(packagedFile("docs/scaling.md"), "utf8");
  t.ok(scaling.includes(/ignore_startup_parameters = \S+/.exec(words)![0]), "the document has the same line");
});

/** Refuses as PgBouncer 1.18 does on the wire: with one error that names the first parameter that it does not know. */
async function startPooler(t: Test): Promise<number> {
  const fields = ["SFATAL", "C08P01", "Munsupported startup parameter: statement_timeout"];
  const body = Buffer.from(`${fields.join("\0")}\0\0`);
  const head = Buffer.alloc(5, "E");
  head.writeInt32BE(body.length + 4, 1);
  return serveTcp(t, (socket) => socket.once("data", () => socket.end(Buffer.concat([head, body]))));
}

async function errorOfConnecting(url: string, withinMs = 10_000): Promise<unknown> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: withinMs });
  try {
    await client.connect();
  } catch (error) {
    return error;
  }
  throw new Error(`connected to ${url}`);
}
