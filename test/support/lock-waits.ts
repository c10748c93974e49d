/**
 * Measures how long others waited for a migration's locks on a server, from PostgreSQL's own record of each wait, which
 * excludes the slowness of a busy machine.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { openPool, sql } from "../../shared/database/pool.js";
import { makeLog } from "../../shared/log/log.js";

export interface LockWaits {
  /** The longest wait of another program so far, milliseconds. */
  longestMs: () => number;
  stop: () => Promise<void>;
}

/** @param url of the database; it is read over a separate pool */
export function watchLockWaits(url: string): LockWaits {
  const log = makeLog("test", "warn");
  const pool = openPool(url, { applicationName: "lock watch", log, max: 1 });
  let longestMs = 0;
  let stopped = false;
  async function watch() {
    while (!stopped) {
      const [row] = await pool.query<{ ms: number | null }>(sql`
        select max(extract(epoch from clock_timestamp() - l.waitstart) * 1000)::int as ms
        from pg_locks l
        join pg_stat_activity a using (pid)
        where not l.granted and a.datname = current_database() and a.application_name <> 'venuewatch migrate'
      `);
      longestMs = Math.max(longestMs, row!.ms ?? 0);
      await sleep(10);
    }
  }
  const watching = watch();
  return {
    longestMs: () => longestMs,
    async stop() {
      stopped = true;
      await watching;
      await pool.close();
    },
  };
}
