/**
 * Transactions that change relations which others use. While such a transaction waits for a lock, later ones queue
 * behind it. So it waits only briefly, rolls back, and retries. It rolls back before the database checks for deadlocks
 * (`deadlock_timeout`, a second), so that PostgreSQL never ends somebody else's transaction because of one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";

/**
 * The work under the lock takes about as long again, so a reader that arrives at the worst instant still waits for well
 * below a second.
 */
export const lockTimeoutMs = 300;

const firstPauseMs = 250;
const longestPauseMs = 5_000;

/**
 * Whether a retry can succeed: after no lock in time, after a deadlock, and after a concurrent change of the same row
 * of the catalogue, for example by a vacuum. The last error has no specific SQLSTATE, so its message is compared.
 */
function gaveWay(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  return code === "55P03" || code === "40P01" || (code === "XX000" && message === "tuple concurrently updated");
}

interface Blocker {
  pid: number;
  name: string;
  age_s: number | null;
  relation: string | null;
}

/**
 * Runs a step in a separate transaction, one migrator at a time. On a server, the pool needs a second connection to
 * find out who holds the lock.
 *
 * @param step name of the step for the log
 * @param work is rolled back before a retry
 * @param patienceMs no retry begins after this time
 * @throws UserError that names who held the lock
 */
export async function withLockRetry<Result>(
  pool: Pool,
  log: Log,
  step: string,
  work: (tx: Db) => Promise<Result>,
  patienceMs: number,
): Promise<Result> {
  const untilMs = performance.now() + patienceMs;
  let pauseMs = firstPauseMs;
  for (;;) {
    const attempt = await tryOnce(pool, log, work);
    if ("result" in attempt) return attempt.result;
    const blockedBy = described(attempt.blockers);
    if (performance.now() + pauseMs > untilMs)
      throw new UserError(
        `${step} did not get a lock within ${Math.round(patienceMs / 1000)} s: ${blockedBy}. ` +
          "Completed steps stay done, and no lock is held. Wait until that transaction ends, or end it (select pg_terminate_backend(pid)), and run venuewatch migrate again.",
        { cause: attempt.error },
      );
    log.warn(`${step} got no lock; retrying`, { pauseMs, blockedBy });
    await sleep(pauseMs);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

type Attempt<Result> = { result: Result } | { error: unknown; blockers: Blocker[] };

async function tryOnce<Result>(pool: Pool, log: Log, work: (tx: Db) => Promise<Result>): Promise<Attempt<Result>> {
  const watch = makeWatch(pool, log);
  try {
    const result = await pool.transaction(async (tx) => {
      const pid = await takeTurn(tx);
      if (pid !== null) watch.begin(pid);
      return work(tx);
    });
    return { result };
  } catch (error) {
    if (!gaveWay(error)) throw error;
    return { error, blockers: watch.seen() };
  } finally {
    await watch.end();
  }
}

/**
 * Waits for another migrator without a limit, since this transaction holds no lock yet.
 *
 * @returns the pid of the backend; null on the embedded database, where a transaction has the only backend and never
 * waits for a lock
 */
async function takeTurn(tx: Db): Promise<number | null> {
  await tx.query(sql`select pg_advisory_xact_lock(hashtextextended('venuewatch.migration', 0))`);
  const [backend] = await tx.query<{ pid: number; alone: boolean }>(sql`
    select
      pg_backend_pid() as pid,
      version() like '%emcc%' as alone,
      set_config('lock_timeout', ${String(lockTimeoutMs)}, true),
      -- After this time, the waiting backend cancels an autovacuum that blocks it. Only some users may set it.
      case
        when has_parameter_privilege('deadlock_timeout', 'set') then set_config('deadlock_timeout', ${String(lockTimeoutMs / 3)}, true)
      end
  `);
  return backend!.alone ? null : backend!.pid;
}

/** Looks up on another connection whom a backend waits for, while it waits: afterwards this is unknown. */
function makeWatch(pool: Pool, log: Log) {
  let blockers: Blocker[] = [];
  let asking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  async function ask(pid: number) {
    try {
      const found = await pool.file<Blocker>("blockers", [pid]);
      if (found.length > 0) blockers = found;
    } catch (error) {
      log.warn("could not find out who holds the lock", { error });
    }
    asking = null;
  }
  return {
    begin(pid: number) {
      timer = setInterval(() => {
        asking ??= ask(pid);
      }, lockTimeoutMs / 3);
    },
    seen: () => blockers,
    async end() {
      clearInterval(timer);
      await asking;
    },
  };
}

function described(blockers: Blocker[]): string {
  if (blockers.length === 0) return "its holder is unknown";
  return blockers
    .map(({ pid, name, age_s, relation }) =>
      [
        `${name} (pid ${pid})`,
        age_s !== null && `in a transaction for ${age_s} s`,
        relation !== null && `holds ${relation}`,
      ]
        .filter(Boolean)
        .join(" "),
    )
    .join(", ");
}
