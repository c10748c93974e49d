import { readdir, statfs } from "node:fs/promises";
import type { Log } from "../../shared/log/log.js";
import { makeOutage } from "../../shared/log/outage.js";
import { addGauge, addLabelledGauge, type OwnMetrics } from "../../shared/log/own-metrics.js";

// Metrics of what a restore needs: the archive of the WAL, base backups, and room on the disks.

/** One row of `server_disk.sql`. */
export interface ServerDisk {
  archive_failing: boolean | null;
  archived_at: Date | null;
  database_bytes: number | null;
  wal_bytes: number | null;
  slots: { slot: string; bytes: number }[];
}

/**
 * Read at every scrape.
 *
 * @param disk null while the database does not answer
 * @param baseBackups directory of base backups; null: not known here, so nothing is exported about them
 */
export function makeBackupMetrics(
  registry: OwnMetrics,
  disk: () => Promise<ServerDisk | null>,
  baseBackups: string | null,
  log: Log,
): void {
  const gauges: [name: string, help: string, value: (disk: ServerDisk) => number | boolean | null][] = [
    [
      "wal_archive_failing",
      "1 when the latest attempt of the server to archive its WAL failed, else 0; absent where it archives none.",
      (of) => of.archive_failing,
    ],
    [
      "wal_archive_newest_timestamp_seconds",
      "When the server last archived a segment of its WAL; before the first, since it counts.",
      (of) => of.archived_at && +of.archived_at / 1000,
    ],
    ["wal_bytes", "Size of the server's directory of WAL; absent where core may not know it.", (of) => of.wal_bytes],
    ["database_bytes", "Size of the database on its disk.", (of) => of.database_bytes],
  ];
  for (const [name, help, value] of gauges)
    addGauge(registry, `venuewatch_${name}`, help, async () => {
      const row = await disk();
      return row && value(row);
    });
  addLabelledGauge(
    registry,
    "venuewatch_wal_retained_bytes",
    "WAL that the server keeps for a replication slot.",
    ["slot"],
    async () => ((await disk())?.slots ?? []).map(({ slot, bytes }) => [{ slot }, bytes]),
  );
  if (baseBackups !== null) addBaseBackups(registry, baseBackups, log);
}

const unreadableWords = {
  begins: "BASE_BACKUPS cannot be read, so its metrics say that there is no base backup",
  lasts: "BASE_BACKUPS still cannot be read",
  over: "BASE_BACKUPS can be read again",
};

function addBaseBackups(registry: OwnMetrics, directory: string, log: Log): void {
  const reading = makeOutage(log, unreadableWords, { level: "warn" });
  addGauge(
    registry,
    "venuewatch_base_backup_newest_timestamp_seconds",
    "When the newest base backup was complete; 0: there is none, or the directory cannot be read.",
    async () => {
      try {
        const newestMs = Math.max(0, ...(await readdir(directory)).map(completedAtMs));
        reading.succeeded();
        return newestMs / 1000;
      } catch (error) {
        // before the first backup there is no directory
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") reading.failed("scrapes", { error });
        return 0;
      }
    },
  );
  addGauge(
    registry,
    "venuewatch_base_backup_disk_free_ratio",
    "Free share of the disk with the base backups; absent where the directory cannot be read.",
    () =>
      statfs(directory).then(
        ({ bavail, blocks }) => bavail / blocks,
        () => null,
      ),
  );
}

/** `deploy/production/base-backup.sh` names a backup by the instant at which it was complete. */
function completedAtMs(name: string): number {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(name)?.slice(1).map(Number);
  if (!parts) return 0;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
