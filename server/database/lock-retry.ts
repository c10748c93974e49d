/**
 * Transactions that change what others use. Whoever comes later queues behind one that waits for a lock, so it waits
 * briefly, gives way, and comes again. It gives way before the database looks for deadlocks (`deadlock_timeout`, a
 * second), so that nobody else is ever ended for one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Db, type Pool, sql } from "../../shared/database/pool.js";
import type { Log } from "../../shared/log/log.js";
import { UserError } from "../../shared/process/user-error.js";

/**
 * With as much again for the work under the lock, a reader that came at the worst instant waits well below a second.
 */
export const lockTimeoutMs = 300;

const firstPauseMs = 250;
const longestPauseMs = 5_000;

/**
 * SQLSTATEs of what is over when it is tried again: no lock within the time, a deadlock, and a row of the catalogue
 * that somebody else has changed meanwhile, such as by a vacuum (it has no code of its own).
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
 * Runs a step in a transaction of its own, one migrator at a time. On a server the pool needs a second connection, by
 * which it is seen who is in the way.
 *
 * @param step what it is, for the log
 * @param work whatever it has done is undone where it is tried again
 * @param patienceMs after so long no further try is made
 * @throws UserError naming who was in the way until then
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
        `${step} waits for a lock that it did not get within ${Math.round(patienceMs / 1000)} s: ${blockedBy}. ` +
          "What was done before stands, and nothing is held. Let that end, or end it (select pg_terminate_backend(pid)), and run venuewatch migrate again.",
        { cause: attempt.error },
      );
    log.warn(`${step} gives way, and is tried again`, { pauseMs, blockedBy });
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
 * For another migrator it waits for as long as that takes, since it holds nothing yet.
 *
 * @returns the backend; null on the embedded database, where a transaction has the only one and waits for nobody
 */
async function takeTurn(tx: Db): Promise<number | null> {
  await tx.query(sql`select pg_advisory_xact_lock(hashtextextended('venuewatch.migration', 0))`);
  const [backend] = await tx.query<{ pid: number; alone: boolean }>(sql`
    select
      pg_backend_pid() as pid,
      version() like '%emcc%' as alone,
      set_config('lock_timeout', ${String(lockTimeoutMs)}, true),
      -- When that is over, who waits ends an autovacuum that is in the way. A superuser alone may set it.
      case
        when has_parameter_privilege('deadlock_timeout', 'set') then set_config('deadlock_timeout', ${String(lockTimeoutMs / 3)}, true)
      end
  `);
  return backend!.alone ? null : backend!.pid;
}

/** Looks by another connection whom a backend waits for: afterwards nobody knows. */
function makeWatch(pool: Pool, log: Log) {
  let blockers: Blocker[] = [];
  let asking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  async function ask(pid: number) {
    try {
      const found = await pool.file<Blocker>("blockers", [pid]);
      if (found.length > 0) blockers = found;
    } catch (error) {
      log.warn("who is in the way could not be seen", { error });
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
  if (blockers.length === 0) return "it was not seen who held it";
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
