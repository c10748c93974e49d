/** Packages of Debian and Ubuntu have TimescaleDB without the part that we need. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import t from "tap";
import { packagedFile } from "../../../shared/config/package.js";
import { openPool, sql } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { makePlace, postgresPrograms, startServer } from "../../support/postgres-server.js";

const programs = await postgresPrograms();
const run = promisify(execFile);

void t.test(
  "a server with the Apache edition is refused in one sentence, and nothing is created",
  { skip: typeof programs === "string" && programs },
  async (t) => {
    if (typeof programs === "string") return;
    const server = await startServer(t, await makePlace(t, programs), "apache", "timescaledb.license = 'apache'");
    const DATABASE_URL = server.url("postgres");
    const pool = openPool(DATABASE_URL, { applicationName: "test", log: makeLog("test", "warn") });
    t.teardown(() => pool.close());
    const venuewatch = async (...args: string[]) => {
      const env = { ...process.env, DATABASE_URL, LOG_LEVEL: "error" };
      const ended = run(process.execPath, [packagedFile("dist/server/cli.js"), ...args], { env });
      const { code, stdout, stderr } = (await ended.catch((error: unknown) => error)) as {
        code?: number;
        stdout: string;
        stderr: string;
      };
      return { code, output: stdout + stderr };
    };
    const made = () =>
      pool.query(sql`
        select extname as name from pg_extension where extname = 'timescaledb'
        union all
        select rolname from pg_roles where rolname like 'vw%'
        union all
        select nspname from pg_namespace where nspname in ('venuewatch', 'upkeep', 'engine', 'api')
      `);
    const refusal = /community edition of TimescaleDB.*timescaledb\.license is apache: install/;

    const empty = await venuewatch("migrate");
    t.equal(empty.code, 2);
    t.match(empty.output, refusal);
    t.notMatch(empty.output, /\n.*\n/, "one line");
    t.strictSame(await made(), []);

    await pool.script("create extension timescaledb");
    const prepared = await venuewatch("migrate");
    t.equal(prepared.code, 2, "also where an administrator made the extension");
    t.match(prepared.output, refusal);
    t.strictSame(await made(), [{ name: "timescaledb" }]);
    t.match((await venuewatch("doctor")).output, /timescaledb\.license is apache, not timescale/);
  },
);
