/**
 * Measures what backups cost, on a separate server that is created as compose.yaml creates it: the WAL of the
 * registry's load under each kind of compression, the archive, a base backup of a history of BACKUP_DAYS (7), and a
 * restore. It needs PostgreSQL's programs. The load is played in accelerated time.
 */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openPool, type Pool, sql } from "../shared/database/pool.js";
import { migrate } from "../server/database/migrate.js";
import { packagedFile } from "../shared/config/package.js";
import { loadRegistry } from "../shared/registry/load-registry.js";
import { composePlace } from "../test/support/compose-place.js";
import { postgresPrograms } from "../test/support/postgres-server.js";
import { until } from "../test/support/until.js";
import { makeHistory } from "../world/history.js";
import { type Figure, short } from "./figure.js";
import { measuredSeries, work } from "./growth.js";
import { log } from "./stage.js";

const days = Number(process.env.BACKUP_DAYS ?? 7);
/**
 * The checkpoint interval of deploy/production/postgresql.conf: after each checkpoint, the first change of a page
 * writes the whole page.
 */
const playedMs = 15 * 60_000;

export async function benchBackup(): Promise<Figure[]> {
  const programs = await postgresPrograms();
  if (typeof programs === "string") {
    console.log(`backup: skipped, ${programs}`);
    return [];
  }
  const ends: (() => unknown)[] = [];
  const place = await composePlace({ teardown: (end: () => unknown) => void ends.unshift(end) }, programs);
  try {
    await place.sh("docker compose up --detach --wait");
    return await measure(place);
  } finally {
    for (const end of ends) await end();
  }
}

async function measure({ folder, sh, urlOf, secret }: Awaited<ReturnType<typeof composePlace>>): Promise<Figure[]> {
  const options = { applicationName: "bench", log, statementTimeoutMs: 600_000 };
  const owner = openPool(urlOf("venuewatch", await secret("owner_password")), options);
  const superuser = openPool(urlOf("postgres", await secret("superuser_password")), options);
  const registry = await loadRegistry(packagedFile("registry/exchanges.json"));
  await migrate(owner, registry, log);
  const from = new Date(Date.now() - 5 * playedMs);
  await makeHistory(owner, { days, now: from, log });

  const backupSeconds = await seconds(() => sh("docker compose exec -T backup /etc/venuewatch/base-backup.sh"));
  const [name] = readdirSync(join(folder, "backups/base"));
  const figures: Figure[] = [
    {
      what: `a base backup of ${days} days of the demo's history`,
      value: megabytes(join(folder, "backups/base", name!)),
      unit: "MB",
    },
    { what: "creating and verifying it", value: backupSeconds, unit: "s" },
  ];
  let atMs = +from;
  for (const compression of await compressions(superuser)) {
    await superuser.script(`alter system set wal_compression = ${compression}`);
    await superuser.script("select pg_reload_conf()");
    await superuser.script("checkpoint");
    const before = await position(superuser);
    await work(owner, registry, await measuredSeries(owner, registry), atMs, atMs + playedMs);
    const kBs = ((await position(superuser)) - before) / 1e3 / (playedMs / 1e3);
    atMs += playedMs;
    figures.push({
      what: `WAL, wal_compression = ${compression}`,
      value: kBs,
      unit: "kB/s",
    });
  }
  figures.push({
    what: "a day of the archive, with the last of these",
    value: (await archivedShare(superuser, folder)) * figures.at(-1)!.value * 86.4,
    unit: "MB",
  });
  await owner.close();
  await superuser.close();
  await sh("docker compose stop");
  let said = "";
  const restoreSeconds = await seconds(async () => {
    said = await sh("docker compose run --rm restore");
  });
  const [, elapsed] = /redo done .* elapsed: ([\d.]+) s/.exec(said)!;
  const segments = said.match(/restored log file "[0-9A-F]{24}"/g)!.length;
  const gigabytes = (segments * 16_777_216) / 1e9;
  figures.push(
    {
      what: `restoring it, with ${short(gigabytes)} GB of WAL since`,
      value: restoreSeconds,
      unit: "s",
    },
    {
      what: "replaying WAL",
      value: Number(elapsed) / gigabytes,
      unit: "s/GB",
    },
  );
  return figures;
}

/** Returns the kinds of compression that this build of the server supports. */
async function compressions(pool: Pool): Promise<string[]> {
  const [row] = await pool.query<{ values: string[] }>(
    sql`select enumvals as values from pg_settings where name = 'wal_compression'`,
  );
  return ["off", "pglz", "lz4", "zstd"].filter((one) => row!.values.includes(one));
}

/** Returns how many bytes of WAL the server has written. */
async function position(pool: Pool): Promise<number> {
  const [row] = await pool.query<{ bytes: number }>(
    sql`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as bytes`,
  );
  return row!.bytes;
}

/** Returns the size of a segment of the last load in the archive, as a share of its full size. */
async function archivedShare(pool: Pool, folder: string): Promise<number> {
  const [last] = await pool.query<{ segment: string }>(
    sql`select pg_walfile_name(pg_current_wal_lsn() - 2 * 16777216) as segment`,
  );
  const file = join(folder, "backups/wal", `${last!.segment}.gz`);
  await until(() => Promise.resolve(readdirSync(join(folder, "backups/wal")).includes(`${last!.segment}.gz`)), 60_000);
  return (megabytes(file) * 1e6) / 16_777_216;
}

async function seconds(run: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await run();
  return (performance.now() - startMs) / 1000;
}

function megabytes(path: string): number {
  const kilobytes = execFileSync("du", ["-sk", path], { encoding: "utf8" });
  return (parseInt(kilobytes) * 1024) / 1e6;
}
