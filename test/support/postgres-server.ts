/**
 * A separate PostgreSQL server with TimescaleDB for a test, from the installed programs. It never runs as root, which
 * PostgreSQL refuses.
 */
import { execFile, execFileSync } from "node:child_process";
import { appendFile, chown, mkdtemp, rm } from "node:fs/promises";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Test } from "tap";
import { packagedFile } from "../../shared/config/package.js";
import { freePort } from "./free-port.js";

/** All in one directory, of one version. */
const needed = ["initdb", "pg_ctl", "pg_dump", "pg_basebackup", "pg_verifybackup", "pg_config"];

const run = promisify(execFile);

export interface PostgresPrograms {
  /** The folder of `initdb`, `pg_ctl`, `pg_dump` and the others. */
  folder: string;
  user: { uid: number; gid: number } | null;
}

/** Returns where the programs are and which user can run them, or why they cannot run. */
export async function postgresPrograms(): Promise<PostgresPrograms | string> {
  const root = "/usr/lib/postgresql";
  const folders = [
    ...(process.env.PATH ?? "").split(":"),
    ...(existsSync(root) ? readdirSync(root).map((major) => join(root, major, "bin")) : []),
  ];
  const hasAll = (one: string) => needed.every((program) => existsSync(join(one, program)));
  const folder = folders.find((one) => hasAll(one) && hasTimescaledb(one));
  if (folder === undefined) return `${needed.join(", ")} are not installed here with TimescaleDB`;
  if (process.getuid!() !== 0) return { folder, user: null };
  try {
    const id = async (option: string) => Number((await run("id", [option, "postgres"])).stdout);
    return { folder, user: { uid: await id("-u"), gid: await id("-g") } };
  } catch {
    return "this is root, and there is no user postgres to run a server as";
  }
}

function hasTimescaledb(folder: string): boolean {
  const libraries = execFileSync(join(folder, "pg_config"), ["--pkglibdir"], { encoding: "utf8" }).trim();
  return existsSync(join(libraries, "timescaledb.so"));
}

export interface Place {
  /** Removed when the test ends; it belongs to the server's user. */
  folder: string;
  /**
   * Runs a `sh` script as that user, with these variables, our `venuewatch` and PostgreSQL's programs; it fails with
   * its first failing command.
   */
  sh: (script: string, variables: Record<string, string>) => Promise<string>;
}

export async function makePlace(t: Pick<Test, "teardown">, programs: PostgresPrograms): Promise<Place> {
  const { user } = programs;
  const folder = await mkdtemp(join(tmpdir(), "venuewatch-servers-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  if (user) await chown(folder, user.uid, user.gid);
  // tap loads itself into each of our programs, and would write where that user may not
  const venuewatch = `venuewatch() { NODE_OPTIONS= ${process.execPath} ${packagedFile("dist/server/cli.js")} "$@"; }`;
  return {
    folder,
    async sh(script, variables) {
      const { stdout } = await run("sh", ["-ec", `${venuewatch}\n${script}`], {
        ...user,
        cwd: folder,
        env: {
          ...variables,
          PATH: `${programs.folder}:${process.env.PATH}`,
          ...{ REGISTRY: packagedFile("registry/exchanges.json"), LC_ALL: "C.UTF-8", TZ: "UTC" },
        },
      });
      return stdout;
    },
  };
}

/**
 * Returns a `sh` script that creates database `venuewatch` in new data, as the image in compose.yaml does before
 * anybody can connect.
 *
 * @param folder a folder of the server's user, for its socket
 * @param passwords the folder of the secrets
 */
export function databaseScript(pgdata: string, folder: string, passwords: string): string {
  const options = `-c listen_addresses= -c unix_socket_directories=${folder} -c shared_preload_libraries=timescaledb`;
  return `
    echo 'local all all trust' >${folder}/only-here.conf
    export PGHOST=${folder} PGPORT=5432 PASSWORDS=${passwords}
    pg_ctl --pgdata=${pgdata} --log=${folder}/creation.log --wait start \
      --options="${options} -c port=5432 -c hba_file=${folder}/only-here.conf" >${folder}/creation.out
    createdb --username=postgres venuewatch
    ${packagedFile("deploy/production/init-database.sh")}
    psql -X --quiet --set=ON_ERROR_STOP=1 --username=postgres --dbname=venuewatch --file=${packagedFile("sql/database/superuser.sql")}
    pg_ctl --pgdata=${pgdata} --wait stop
  `;
}

export interface Server {
  pgdata: string;
  /** The URL of a database in it. */
  url: (database: string) => string;
  stop: () => Promise<void>;
}

/**
 * Creates and starts a server that archives its WAL into `archive`. It is stopped when the test ends.
 *
 * @param settings more lines of postgresql.conf
 */
export async function startServer(
  t: Test,
  { folder, sh }: Place,
  name: string,
  settings = "",
): Promise<Server & { archive: string }> {
  const pgdata = join(folder, name);
  const archive = join(folder, `${name}-archive`);
  const port = await freePort();
  await sh(`mkdir ${archive}; initdb --pgdata=${pgdata} --username=postgres --auth=trust --no-sync`, {});
  await appendFile(
    join(pgdata, "postgresql.conf"),
    `
listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = '${folder}'
shared_preload_libraries = 'timescaledb'
timescaledb.telemetry_level = off
max_locks_per_transaction = 256
fsync = off
wal_level = replica
archive_mode = on
archive_command = 'test ! -f ${archive}/%f && cp %p ${archive}/%f'
${settings}
`,
  );
  const stop = async () => {
    await sh(
      `pg_ctl --pgdata=${pgdata} --mode=immediate --wait stop || pg_ctl --pgdata=${pgdata} status || test $? = 3`,
      {},
    );
  };
  t.teardown(stop);
  await sh(`pg_ctl --pgdata=${pgdata} --log=${folder}/${name}.log --wait start`, {});
  return { pgdata, archive, url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`, stop };
}
