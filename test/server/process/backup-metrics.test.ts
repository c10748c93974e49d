/** Core's metrics of the archive of the WAL, base backups and the disks. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { makeBackupMetrics, type ServerDisk } from "../../../server/core/backup-metrics.js";
import { openPool } from "../../../shared/database/pool.js";
import { makeLog } from "../../../shared/log/log.js";
import { makeOwnMetrics } from "../../../shared/log/own-metrics.js";
import { migratedDatabase } from "../../support/database.js";
import { parseExposition } from "../../support/exposition.js";
import { becoming } from "../../support/rights.js";

const log = makeLog("test", "error");

void t.test("core may read what fills the server's disk, and no file of its", async (t) => {
  const { url } = await migratedDatabase(t);
  const pool = openPool(url, { applicationName: "test", log, max: 1 });
  t.teardown(() => pool.close());
  await pool.script(becoming("vw_core"));
  const [disk] = await pool.file<ServerDisk>("server_disk");
  t.match(disk, { slots: Array });
  if (!process.env.DATABASE_URL) t.equal(disk!.archive_failing, null, "the embedded database archives nothing");
  // a superuser has migrated, and so granted it
  if (!process.env.DATABASE_URL) t.ok(disk!.wal_bytes! > 0);
  await t.rejects(pool.script("select pg_ls_waldir()"), { code: "42501" });
});

void t.test("the newest complete base backup counts, and none is older than all", async (t) => {
  const directory = join(t.testdir({}), "base");
  const lines: string[] = [];
  const registry = makeOwnMetrics("core");
  makeBackupMetrics(
    registry,
    () => Promise.resolve(null),
    directory,
    makeLog("core", "warn", (line) => lines.push(line)),
  );
  const metrics = async () => {
    const series = parseExposition(await registry.metrics()).flatMap((family) => family.series);
    return new Map(series.map(({ name, value }) => [name, value]));
  };
  const newest = async () => (await metrics()).get("venuewatch_base_backup_newest_timestamp_seconds");

  t.equal(await newest(), 0, "there is no directory before the first");
  t.same(lines, []);
  for (const name of ["20261127T031502Z", "20261128T031500Z", "part"])
    await mkdir(join(directory, name), { recursive: true });
  t.equal(await newest(), Date.UTC(2026, 10, 28, 3, 15) / 1000);
  const free = (await metrics()).get("venuewatch_base_backup_disk_free_ratio")!;
  t.ok(free > 0 && free < 1);
  for (const name of (await metrics()).keys()) t.notMatch(name, /^venuewatch_(wal|database)_/, "the database is away");

  await rm(directory, { recursive: true });
  await writeFile(directory, "");
  t.equal(await newest(), 0);
  t.match(lines.join(""), /BASE_BACKUPS cannot be read.*ENOTDIR/);
});
